/*
 * bench.c - round trips and messages per second
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "stats.h"
#include "work.h"

enum {
	WARM_UP = 10 /* messages that are not counted */
};

/* One message there and back. */
static int round_trip(struct session *session, size_t length)
{
	const struct sockaddr_in *peer = &session->peers[0];
	struct rds_news news;
	struct dgram dgram;

	dgram_header(session->out, DGRAM_ECHO, 0);
	if (session_send(session, peer, session->out, length, NULL) ||
	    session_expect(session, peer, DGRAM_ECHO, "an echo", &dgram, &news))
		return -1;
	if (news.length != length)
		return log_fail("an echo of %zu bytes for %zu", news.length,
				length);
	return 0;
}

static int measure_latency(struct session *session, struct stats *stats)
{
	uint64_t *samples = malloc(stats->count * sizeof(*samples)), begin;
	uint64_t all;
	int ret = -1;

	if (!samples)
		return log_fail("no memory for %u samples", stats->count);
	for (unsigned int i = 0; i < WARM_UP; i++)
		if (round_trip(session, stats->bytes))
			goto out;
	all = stats_now();
	for (unsigned int i = 0; i < stats->count; i++) {
		begin = stats_now();
		if (round_trip(session, stats->bytes))
			goto out;
		samples[i] = stats_now() - begin;
	}
	stats->elapsed = stats_now() - all;
	stats_latency(stats, samples, stats->count);
	ret = 0;
out:
	free(samples);
	return ret;
}

/* As many at a time as the send buffer holds; all must arrive. */
static int measure_rate(struct session *session, struct stats *stats)
{
	const struct sockaddr_in *peer = &session->peers[0];
	uint64_t begin = stats_now();
	struct rds_news news;
	struct dgram dgram;
	char all[64];

	for (unsigned int i = 0; i < stats->count; i++) {
		dgram_header(session->out, DGRAM_NUMBERED, i);
		if (session_send(session, peer, session->out, stats->bytes,
				 NULL))
			return -1;
	}
	/* The server reads this last, so its answer is the end. */
	if (session_send_text(session, peer, DGRAM_TOTAL, "") ||
	    session_expect(session, peer, DGRAM_TOTAL, "the total", &dgram,
			   &news))
		return -1;
	stats->elapsed = stats_now() - begin;
	snprintf(all, sizeof(all), "%u messages, all of them, in order",
		 stats->count);
	if (dgram.length != strlen(all) ||
	    memcmp(dgram.text, all, dgram.length))
		return log_fail("not all that was sent has arrived, in order");
	return 0;
}

int work_bench(struct session *session)
{
	const struct options *options = session->options;
	struct stats stats[] = {
		{ .op = "ping", .bytes = options->bytes, .depth = 1 },
		{ .op = "flood", .bytes = options->bytes },
	};
	long room = rds_send_room(&session->rds);

	if (room < 0)
		return -1;
	if (options->bytes > DGRAM_MAX)
		return log_fail("-s: at most %d here", DGRAM_MAX);
	memset(session->out, 'x', options->bytes);
	stats[0].count = stats[1].count = options->count;
	stats[1].depth = (room + options->bytes - 1) / options->bytes;
	if (measure_latency(session, &stats[0]) ||
	    measure_rate(session, &stats[1]))
		return -1;
	stats_print(stats, 2, options->csv);
	return 0;
}
