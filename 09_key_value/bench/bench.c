/*
 * bench.c - how fast GETs and counters are: the command line, and what both ends share
 */
#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "addr.h"
#include "explain.h"
#include "log.h"
#include "options.h"

static struct {
	const char *address, *port;
	int seconds, clients, depth, chain, count, word;
	bool writes, polls, believes;
} options = { .port = "22229",
	      .seconds = 60,
	      .clients = 1,
	      .depth = 1,
	      .chain = 1,
	      .count = 10000 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS",
	  "lend: listen on this name or address only; the others: the other end's",
	  .text = &options.address, .otherwise = "all of this machine's" },
	{ 'p', "port", "PORT", "the port of the end that lends",
	  .digits = &options.port, .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS",
	  "how long the peer may take for one step, and the measurement",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'j', "clients", "COUNT", "connections, at both ends",
	  .number = &options.clients, .min = 1, .max = BENCH_CLIENTS },
	{ 'q', "depth", "DEPTH", "requests under way on each",
	  .number = &options.depth, .min = 1, .max = BENCH_DEPTH },
	{ 'c', "chain", "COUNT", "so many of them are posted with one call",
	  .number = &options.chain, .min = 1, .max = BENCH_DEPTH },
	{ 'n', "count", "COUNT", "requests in all", .number = &options.count,
	  .min = 1, .max = 100000000 },
	{ 'w', "writes",
	  .help = "meanwhile the value is put again and again, by a thread at the other end",
	  .flag = &options.writes },
	{ 'b', "believes", .help = "read: do not look at what has come",
	  .flag = &options.believes },
	{ 'P', "polls", .help = "lend: do not sleep until a message comes",
	  .flag = &options.polls },
	{ .value = "read|send|add|lend", .word = &options.word },
};

enum {
	WORD_LEND = 3
};

static const char purpose[] =
	"usage: bench/bench [-a ADDRESS] [OPTION]... read|send|add|lend\n\n"
	"Measures GETs by READ, GETs by a SEND and its answer, or fetch-and-adds to one\n"
	"counter. One end lends the table and the counter, and ends with its clients.\n\n"
	"example: bench/bench lend, and bench/bench -a 192.0.2.1 -q 16 -c 4 read";

/* ---- What both ends share ---- */

void bench_keys(char keys[BENCH_KEYS][KEY_SIZE])
{
	bool taken[BENCH_BUCKETS] = { false };
	int found = 0;

	memset(keys, 0, BENCH_KEYS * KEY_SIZE);
	for (int i = 0; found < BENCH_KEYS; i++) {
		uint32_t home;

		snprintf(keys[found], KEY_SIZE, "key %d", i);
		home = table_home(keys[found], BENCH_BUCKETS);
		found += !taken[home];
		taken[home] = true;
	}
}

int64_t bench_now(void)
{
	struct timespec now;

	/* Fails only for an unknown clock or a bad address, so not here. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

int bench_take(struct conn *conn, struct ibv_wc *wcs, int max, int polls)
{
	for (int i = 0; i < polls; i++) {
		int n = ibv_poll_cq(conn->cq, max, wcs);

		if (n < 0)
			return explain_call("ibv_poll_cq", 0);
		conn->pending -= n;
		if (n > 0)
			return n;
	}
	return conn_wait(conn, wcs) ? -1 : 1;
}

int bench_send(struct conn *conn, const struct region *region, const void *buf,
	       uint32_t length, uint64_t id)
{
	struct ibv_sge sge = { (uintptr_t)buf, length, region->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	return conn_post(conn, &wr);
}

/* ---- The end that lends ---- */

struct guest {
	struct lender *lender;
	struct rdma_cm_id *id;
	const struct patience *patience;
	pthread_t thread;
	int ret;
};

static void *run_guest(void *arg)
{
	struct guest *guest = arg;

	guest->ret = lender_serve(guest->lender, guest->id, guest->patience,
				  options.polls);
	return NULL;
}

/* As many clients as -j says, each with a thread; then it ends. */
static int serve(struct lender *lender, struct conn *listener)
{
	struct guest guests[BENCH_CLIENTS];
	int count = 0, ret = 0, err;

	while (!ret && count < options.clients) {
		struct guest *guest = &guests[count];

		*guest = (struct guest){ .lender = lender,
					 .patience = &listener->patience };
		/* 0: we have been asked to stop. */
		if (conn_next(listener, &guest->id) <= 0)
			break;
		err = pthread_create(&guest->thread, NULL, run_guest, guest);
		if (!err) {
			count++;
			continue;
		}
		ret = explain_call("pthread_create", err);
		if (rdma_destroy_id(guest->id))
			explain_call("rdma_destroy_id", errno);
	}
	for (int i = 0; i < count; i++) {
		pthread_join(guests[i].thread, NULL);
		ret |= guests[i].ret;
	}
	return count == options.clients ? ret : -1;
}

static int lend(const struct addrinfo *addresses,
		const struct patience *patience)
{
	struct conn listener = { .patience = *patience };
	struct lender *lender = lender_open();
	int ret = -1;

	if (lender && !conn_listen(&listener, addresses))
		ret = serve(lender, &listener);
	conn_close(&listener);
	lender_close(lender);
	return ret;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct addrinfo *addresses;
	struct plan plan;
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (options.word != WORD_LEND && !options.address) {
		log_fail(
			"the address of the end that lends is missing; give it with -a, as in: bench/bench -a 192.0.2.1 read");
		return EXIT_USAGE;
	}
	if (options.chain > options.depth) {
		log_fail("-c is more than -q; see -h");
		return EXIT_USAGE;
	}
	patience.timeout_ms = options.seconds * 1000;
	plan = (struct plan){ options.word,    options.clients, options.depth,
			      options.chain,   options.count,	options.writes,
			      options.believes };
	if (options.word == WORD_LEND && wait_for_signals(&patience.stop_fd))
		return EXIT_FAILED;
	if (!addr_lookup(options.address, options.port, &addresses)) {
		ret = options.word == WORD_LEND ?
			      lend(addresses, &patience) :
			      measure(&plan, addresses, &patience);
		freeaddrinfo(addresses);
	}
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
