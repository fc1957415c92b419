/*
 * load.c - many clients in one program, and one thread
 *
 * Each of them does what ../client.c does. All are on one completion queue and one
 * shared receive queue, like the clients of the server.
 */
#include <errno.h>
#include <stdlib.h>

#include "addr.h"
#include "crowd.h"
#include "explain.h"
#include "log.h"
#include "options.h"
#include "pattern.h"

static struct {
	const char *address, *port;
	int seconds, bytes, cycles, count, jobs, depth;
	int hold; /* 0: leave at once */
	int writes; /* 0: sum; 1: write */
	bool csv;
} options = { .port = "22228",
	      .seconds = 10,
	      .bytes = 1024,
	      .cycles = 10,
	      .count = 100,
	      .jobs = 16,
	      .depth = 16 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS",
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do",
	  .text = &options.address },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'b', "bytes", "BYTES",
	  "memory to write to, and of a request; both ends need the same",
	  .number = &options.bytes, .min = PATTERN_MIN,
	  .max = MSG_MAX_REQUEST },
	{ 'N', "cycles", "COUNT",
	  "requests of each connection, one after another",
	  .number = &options.cycles, .min = 1, .max = 1000000 },
	{ 'n', "count", "COUNT", "connections at a time",
	  .number = &options.count, .min = 1, .max = 20000 },
	{ 'j', "jobs", "COUNT",
	  "connections that may be in the making at a time",
	  .number = &options.jobs, .min = 1, .max = 1000 },
	{ 'q', "depth", "DEPTH",
	  "requests at a time, of all connections together",
	  .number = &options.depth, .min = 1, .max = 4096 },
	{ 'w', "hold", "SECONDS",
	  "stay connected for SECONDS after the last answer",
	  .number = &options.hold, .min = 1, .max = 3600,
	  .otherwise = "leave at once" },
	{ 'c', "csv", .help = "print comma-separated values",
	  .flag = &options.csv },
	{ .value = "sum|write", .word = &options.writes },
};

static const char purpose[] =
	"usage: ./load/load -a ADDRESS [OPTION]... sum|write\n\n"
	"Does what ./client does, with many connections in one thread: when all of them\n"
	"are there, each sends its requests, and the times until the answers are measured.\n\n"
	"example: ./load/load -a 192.0.2.1 sum";

/* When the phases began, in ns. */
struct times {
	int64_t began, connected;
};

static double seconds(int64_t from, int64_t to)
{
	return (to - from) / 1e9;
}

static int crowd_open(struct crowd *crowd)
{
	TAILQ_INIT(&crowd->line);
	if (loop_open(&crowd->loop) ||
	    latency_open(&crowd->latency, (size_t)crowd->count * crowd->cycles))
		return -1;
	crowd->askers = calloc(crowd->count, sizeof(*crowd->askers));
	if (!crowd->askers)
		return explain_call("calloc", errno);
	if (addr_lookup(options.address, options.port, &crowd->server))
		return -1;
	crowd->events = rdma_create_event_channel();
	if (!crowd->events)
		return explain_call("rdma_create_event_channel", errno);
	if (wait_nonblocking(crowd->events->fd, "rdma_create_event_channel"))
		return -1;
	crowd->cm = (struct watch){ crowd->events->fd, crowd_on_cm, crowd };
	return loop_add(&crowd->loop, &crowd->cm);
}

static void crowd_close(struct crowd *crowd)
{
	/* Those of which something was posted until the very end. */
	for (unsigned int i = 0; crowd->askers && i < crowd->count; i++)
		if (crowd->askers[i].state != ASKER_NEW &&
		    crowd->askers[i].state != ASKER_GONE)
			crowd_free(crowd, &crowd->askers[i]);
	region_close(&crowd->exposed);
	region_close(&crowd->request);
	shared_close(&crowd->shared);
	if (crowd->events)
		rdma_destroy_event_channel(crowd->events);
	if (crowd->server)
		freeaddrinfo(crowd->server);
	latency_close(&crowd->latency);
	free(crowd->askers);
	loop_close(&crowd->loop);
}

/* One turn of the loop, which sleeps until then at most. */
static int turn(struct crowd *crowd, int64_t until)
{
	if (loop_turn(&crowd->loop, crowd->shared.busy ? 0 : until))
		return -1;
	/* Once a turn: reading the clock can cost as much as sending. */
	crowd->now = latency_now();
	return crowd_take(crowd);
}

/* Waits for the server, which must not be silent for too long. */
static int wait_for(struct crowd *crowd, int64_t until)
{
	if (wait_deadline(0) >= crowd->due)
		return log_fail(
			"%u connections, %u answers and %u farewells are missing: nothing came within %d s; is the server alive, and is -t long enough for it [docs/troubleshooting.md#silent]",
			crowd->making, crowd->under_way, crowd->ending,
			options.seconds);
	if (crowd->loop.asked)
		return log_fail(
			"given up, since this program was asked to stop");
	return turn(crowd, until);
}

/* Until all are connected, or have failed. */
static int connect_all(struct crowd *crowd, struct times *times)
{
	unsigned int begun = 0;
	int ret = 0;

	do {
		while (crowd->making < (unsigned int)options.jobs &&
		       begun < crowd->count)
			crowd_begin(crowd, &crowd->askers[begun++]);
		if (crowd->making)
			ret = wait_for(crowd, crowd->due);
	} while (!ret && (crowd->making || begun < crowd->count));
	times->connected = crowd->answered = latency_now();
	if (!ret)
		log_line("%u connections in %.2f s, %.1f connections/s.",
			 crowd->ready, seconds(times->began, times->connected),
			 crowd->ready /
				 seconds(times->began, times->connected));
	return ret;
}

/* Until all have all their answers. */
static int ask_all(struct crowd *crowd)
{
	int ret = 0;

	crowd->due = wait_deadline(crowd->timeout_ms);
	crowd->now = latency_now();
	crowd_ask(crowd);
	while (!ret && crowd->asking)
		ret = wait_for(crowd, crowd->due);
	return ret;
}

/* As long as -w says, or until all are gone. */
static int hold_all(struct crowd *crowd)
{
	int64_t until = wait_deadline(options.hold * 1000);
	int ret = 0;

	if (options.hold)
		log_line("%u connections are held.", crowd->here);
	while (!ret && crowd->here && wait_deadline(0) < until) {
		crowd->due = INT64_MAX;
		ret = wait_for(crowd, until);
	}
	return ret;
}

/* Until all are gone: as many goodbyes at a time as connections in the making. */
static int end_all(struct crowd *crowd)
{
	unsigned int at = 0;
	int ret = 0;

	crowd->due = wait_deadline(crowd->timeout_ms);
	while (!ret && crowd->here) {
		for (; at < crowd->count &&
		       crowd->ending < (unsigned int)options.jobs;
		     at++)
			if (crowd->askers[at].state == ASKER_READY)
				crowd_end(crowd, &crowd->askers[at]);
		if (crowd->here)
			ret = wait_for(crowd, crowd->due);
	}
	return ret;
}

/* Whatever they are doing. */
static void leave_all(struct crowd *crowd)
{
	for (unsigned int i = 0; i < crowd->count; i++)
		crowd_leave(crowd, &crowd->askers[i]);
	crowd->due = wait_deadline(crowd->timeout_ms);
	while (crowd->here && wait_deadline(0) < crowd->due &&
	       !turn(crowd, crowd->due))
		;
}

static void print_sum(struct crowd *crowd, const struct times *times)
{
	struct latency *latency = &crowd->latency;
	double took = seconds(times->connected, crowd->answered);
	double rate = took > 0 ? latency->count / took : 0;

	latency_sort(latency);
	log_line("%zu requests of %d bytes in %.2f s, %.1f requests/s.",
		 latency->count, options.bytes, took, rate);
	log_line("until the answer: p50 %u us, p99 %u us, p99.9 %u us.",
		 latency_of(latency, 500), latency_of(latency, 990),
		 latency_of(latency, 999));
	if (options.csv)
		log_line(
			"connections,requests,bytes,connects_per_s,requests_per_s,p50_us,p99_us,p99.9_us\n%u,%zu,%d,%.0f,%.0f,%u,%u,%u",
			crowd->ready, latency->count, options.bytes,
			crowd->ready / seconds(times->began, times->connected),
			rate, latency_of(latency, 500),
			latency_of(latency, 990), latency_of(latency, 999));
	log_line("%d connections: %u served, %u refused, %u failed.",
		 options.count, crowd->ready - crowd->lost, crowd->refused,
		 crowd->failed + crowd->lost);
}

/* Returns 0 if all were served, or -1. */
static int run(struct crowd *crowd)
{
	struct times times = { .began = latency_now() };
	int ret;

	crowd->due = wait_deadline(crowd->timeout_ms);
	/* 1. Connect. */
	ret = connect_all(crowd, &times);
	/* 2. Ask, and wait for the answers. */
	if (!ret)
		ret = ask_all(crowd);
	/* 3. Stay. */
	if (!ret)
		ret = hold_all(crowd);
	/* 4. Say goodbye. */
	if (!ret)
		ret = end_all(crowd);
	leave_all(crowd);
	print_sum(crowd, &times);
	return ret || crowd->refused || crowd->failed || crowd->lost ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct crowd crowd = { 0 };
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.address) {
		log_fail(
			"the server's address is missing; give it with -a, as in: ./load/load -a 192.0.2.1 sum");
		return EXIT_USAGE;
	}
	crowd = (struct crowd){
		.count = options.count,
		.cycles = options.cycles,
		.depth = options.depth,
		.bytes = options.bytes,
		.writes = options.writes,
		.timeout_ms = options.seconds * 1000,
	};
	if (!crowd_open(&crowd))
		ret = run(&crowd);
	crowd_close(&crowd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
