/*
 * load.c - round trips and messages per second, with a server of this chapter
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ipv4.h"
#include "log.h"
#include "options.h"
#include "rds.h"

enum {
	WARM_UP = 10 /* messages that are not counted */
};

static struct {
	const char *address, *port;
	int transport, seconds, count, bytes;
} options = { .port = "4000", .seconds = 60, .count = 100, .bytes = 64 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS", "the server's name or address",
	  .text = &options.address },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 2, .max = 65535 },
	{ 'T', "transport", "tcp|ib",
	  "the transport that the kernel sends over",
	  .word = &options.transport },
	{ 't', "timeout", "SECONDS",
	  "how long the server may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'n', "count", "COUNT", "how many messages", .number = &options.count,
	  .min = 1, .max = 10000000 },
	{ 's', "size", "BYTES", "the size of each message",
	  .number = &options.bytes, .min = DGRAM_HEADER, .max = DGRAM_MAX },
	{ 0 },
};

static const char purpose[] =
	"usage: load/load -a ADDRESS [OPTION]...\n\n"
	"Measures round trips of one message at a time, and messages per second with as\n"
	"many at a time as the send buffer holds. Prints comma-separated values.\n\n"
	"example: load/load -a 192.0.2.1 -T ib";

static double now_us(void)
{
	struct timespec now;

	/* Fails only for an unknown clock or a bad address, so not here. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* One message there and back. */
static int round_trip(struct rds *rds, const struct sockaddr_in *server)
{
	size_t length = options.bytes;

	dgram_fill(rds->out, DGRAM_ECHO, 0, "");
	if (rds_send(rds, server, rds->out, length, NULL) ||
	    rds_expect(rds, server, DGRAM_ECHO, "an echo"))
		return -1;
	if (rds->news.length != length)
		return log_fail("an echo of %zu bytes for %zu",
				rds->news.length, length);
	return 0;
}

static int measure_ping(struct rds *rds, const struct sockaddr_in *server)
{
	double *samples = malloc(options.count * sizeof(*samples)), begin;
	int ret = -1;

	if (!samples)
		return log_fail("no memory for %d samples", options.count);
	for (int i = -WARM_UP; i < options.count; i++) {
		begin = now_us();
		if (round_trip(rds, server))
			goto out;
		if (i >= 0)
			samples[i] = now_us() - begin;
	}
	qsort(samples, options.count, sizeof(*samples), compare);
	log_line("ping,%d,%d,%.1f,", options.bytes, options.count,
		 samples[options.count / 2]);
	ret = 0;
out:
	free(samples);
	return ret;
}

/* As many at a time as the send buffer holds; all must arrive. */
static int measure_flood(struct rds *rds, const struct sockaddr_in *server)
{
	double begin = now_us(), end;
	char all[64];

	for (int i = 0; i < options.count; i++) {
		dgram_fill(rds->out, DGRAM_NUMBERED, i, "");
		if (rds_send(rds, server, rds->out, options.bytes, NULL))
			return -1;
	}
	/* The server reads this last, so its answer is the end. */
	if (rds_ask(rds, server, DGRAM_TOTAL, "", DGRAM_TOTAL, "the total"))
		return -1;
	end = now_us();
	snprintf(all, sizeof(all), "%d messages, all of them, in order",
		 options.count);
	if (rds->news.length != DGRAM_HEADER + strlen(all) ||
	    memcmp(rds->in->text, all, strlen(all)))
		return log_fail("not all that was sent has arrived, in order");
	log_line("flood,%d,%d,,%.0f", options.bytes, options.count,
		 options.count * 1e6 / (end - begin));
	return 0;
}

int main(int argc, char **argv)
{
	struct rds rds = { .fd = -1 };
	struct sockaddr_in server, local;
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.address) {
		log_fail(
			"the server's address is missing; give it with -a, as in: load/load -a 192.0.2.1");
		return EXIT_USAGE;
	}
	rds.patience = (struct patience){ options.seconds * 1000, -1 };
	if (ipv4_lookup(options.address, options.port, &server) ||
	    ipv4_way_to(&server, &local) ||
	    rds_open(&rds, &local, options.transport) ||
	    rds_greet(&rds, &server))
		goto out;
	/* A port that is full for a while is none of our news. */
	rds.congested = true;
	memset(rds.out, 'x', options.bytes);
	log_line("op,bytes,count,median_us,ops_per_s");
	if (measure_ping(&rds, &server) || measure_flood(&rds, &server))
		goto out;
	ret = rds_ask(&rds, &server, DGRAM_BYE, "", DGRAM_BYE, "a goodbye");
out:
	rds_close(&rds);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
