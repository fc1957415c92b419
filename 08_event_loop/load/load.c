/*
 * load.c - many clients in one program, and one thread
 *
 * Each of them does what the client does, more than once. All are on one completion queue and one
 * shared receive queue.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "addr.h"
#include "crowd.h"
#include "explain.h"
#include "log.h"
#include "message.h"
#include "options.h"
#include "pattern.h"

static struct {
	const char *address, *port;
	int seconds, bytes, cycles, count, jobs, depth;
	int hold; /* 0: leave at once */
	int greedy; /* 0: not */
	bool csv;
} options = { .port = "20886",
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
	{ 'b', "bytes", "BYTES", "of a message", .number = &options.bytes,
	  .min = PATTERN_MIN, .max = MESSAGE_SIZE },
	{ 'N', "cycles", "COUNT",
	  "messages of each connection, one after another",
	  .number = &options.cycles, .min = 1, .max = 1000000 },
	{ 'n', "count", "COUNT", "connections at a time",
	  .number = &options.count, .min = 1, .max = 20000 },
	{ 'j', "jobs", "COUNT",
	  "connections that may be in the making at a time",
	  .number = &options.jobs, .min = 1, .max = 1000 },
	{ 'q', "depth", "DEPTH",
	  "messages at a time, of all connections together",
	  .number = &options.depth, .min = 1, .max = 4096 },
	{ 'w', "hold", "SECONDS",
	  "stay connected for SECONDS after the last echo",
	  .number = &options.hold, .min = 1, .max = 3600,
	  .otherwise = "leave at once" },
	{ 'g', "greedy", "COUNT",
	  "post COUNT messages at once, and no receive for the echoes",
	  .number = &options.greedy, .min = 1, .max = 8192,
	  .otherwise = "wait" },
	{ 'c', "csv", .help = "print comma-separated values",
	  .flag = &options.csv },
	{ 0 },
};

static const char purpose[] =
	"usage: ./load/load -a ADDRESS [OPTION]...\n\n"
	"Does what ./client does, with many connections in one thread: when all of them are\n"
	"there, each sends its messages, and the times until they come back are measured.\n\n"
	"example: ./load/load -a 192.0.2.1";

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
	struct conn *all = &crowd->all;

	TAILQ_INIT(&crowd->line);
	crowd->took = calloc((size_t)crowd->count * crowd->cycles,
			     sizeof(*crowd->took));
	crowd->askers = calloc(crowd->count, sizeof(*crowd->askers));
	if (!crowd->took || !crowd->askers)
		return explain_call("calloc", errno);
	if (wait_for_signals(&crowd->patience.stop_fd) ||
	    addr_lookup(options.address, options.port, &crowd->server))
		return -1;
	all->events = rdma_create_event_channel();
	if (!all->events)
		return explain_call("rdma_create_event_channel", errno);
	return wait_nonblocking(all->events->fd, "rdma_create_event_channel");
}

static void crowd_close(struct crowd *crowd)
{
	int err;

	/* Those of which something was posted until the very end. */
	for (unsigned int i = 0; crowd->askers && i < crowd->count; i++)
		if (crowd->askers[i].state != ASKER_NEW &&
		    crowd->askers[i].state != ASKER_GONE)
			crowd_free(crowd, &crowd->askers[i]);
	if (crowd->srq && (err = ibv_destroy_srq(crowd->srq)))
		explain_call("ibv_destroy_srq", err);
	region_close(&crowd->data);
	region_close(&crowd->came);
	conn_close(&crowd->all);
	if (crowd->server)
		freeaddrinfo(crowd->server);
	if (crowd->patience.stop_fd >= 0)
		close(crowd->patience.stop_fd);
	free(crowd->took);
	free(crowd->askers);
}

/* Waits for the server, which must not be silent for too long. */
static int wait_for(struct crowd *crowd, int64_t until)
{
	if (wait_deadline(0) >= crowd->due)
		return log_fail(
			"%u connections, %u echoes and %u farewells are missing: nothing came within %d s; is the server alive, and is -t long enough for it [docs/troubleshooting.md#silent]",
			crowd->making, crowd->under_way, crowd->ending,
			options.seconds);
	return crowd_turn(crowd, until);
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
	times->connected = crowd->last = crowd_clock();
	if (!ret)
		log_line("%u connections in %.2f s, %.1f connections/s.",
			 crowd->ready, seconds(times->began, times->connected),
			 crowd->ready /
				 seconds(times->began, times->connected));
	return ret;
}

/* Until all have all their echoes. */
static int ask_all(struct crowd *crowd)
{
	int ret = 0;

	crowd->due = wait_deadline(crowd->patience.timeout_ms);
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
	while (!ret && crowd->here && wait_deadline(0) < until)
		ret = crowd_turn(crowd, until);
	return ret;
}

/* Until all are gone: as many goodbyes at a time as connections in the making. */
static int end_all(struct crowd *crowd)
{
	unsigned int at = 0;
	int ret = 0;

	crowd->due = wait_deadline(crowd->patience.timeout_ms);
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
	/* From here on, no signal ends a wait early. */
	crowd->leaving = true;
	for (unsigned int i = 0; i < crowd->count; i++)
		crowd_leave(crowd, &crowd->askers[i]);
	crowd->due = wait_deadline(crowd->patience.timeout_ms);
	while (crowd->here && wait_deadline(0) < crowd->due &&
	       !crowd_turn(crowd, crowd->due))
		;
}

static int compare(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return a < b ? -1 : a > b;
}

/* The time in us within which permille of 1000 echoes came: rounded up. */
static uint32_t within(const struct crowd *crowd, unsigned int permille)
{
	size_t rank = (crowd->times * permille + 999) / 1000;

	return crowd->times ? crowd->took[rank ? rank - 1 : 0] : 0;
}

static void print_sum(struct crowd *crowd, const struct times *times)
{
	double took = seconds(times->connected, crowd->last);
	double rate = took > 0 ? crowd->times / took : 0;
	uint32_t p50, p99, p999;

	qsort(crowd->took, crowd->times, sizeof(*crowd->took), compare);
	p50 = within(crowd, 500);
	p99 = within(crowd, 990);
	p999 = within(crowd, 999);
	log_line("%zu messages of %d bytes in %.2f s, %.1f messages/s.",
		 crowd->times, options.bytes, took, rate);
	log_line("until the echo: p50 %u us, p99 %u us, p99.9 %u us.", p50, p99,
		 p999);
	if (options.csv)
		log_line(
			"connections,messages,bytes,connects_per_s,messages_per_s,p50_us,p99_us,p99.9_us\n%u,%zu,%d,%.0f,%.0f,%u,%u,%u",
			crowd->ready, crowd->times, options.bytes,
			crowd->ready / seconds(times->began, times->connected),
			rate, p50, p99, p999);
	log_line("%d connections: %u served, %u refused, %u failed.",
		 options.count, crowd->ready - crowd->lost, crowd->refused,
		 crowd->failed + crowd->lost);
}

/* Returns 0 if all were served, or -1. */
static int run(struct crowd *crowd)
{
	struct times times = { .began = crowd_clock() };
	int ret;

	crowd->due = wait_deadline(crowd->patience.timeout_ms);
	/* 1. Connect. */
	ret = connect_all(crowd, &times);
	/* 2. Send, and wait for the echoes. */
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
			"the server's address is missing; give it with -a, as in: ./load/load -a 192.0.2.1");
		return EXIT_USAGE;
	}
	crowd = (struct crowd){
		.count = options.count,
		.cycles = options.cycles,
		.depth = options.depth,
		.bytes = options.bytes,
		.greedy = options.greedy,
		.patience = { options.seconds * 1000, -1 },
	};
	if (!crowd_open(&crowd))
		ret = run(&crowd);
	crowd_close(&crowd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
