/*
 * bench.c - how fast are writes and reads
 */
#include "bench.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hello.h"
#include "log.h"
#include "pump.h"
#include "stats.h"

/* Where in lent memory the signs of life are: behind length bytes, and aligned. */
static size_t beat_at(size_t length)
{
	return (length + 7) / 8 * 8;
}

/* The byte at i that both sides agree on; neighbours and pages differ. */
static char pattern(size_t i)
{
	return i ^ (i >> 8) * 31 ^ (i >> 16) * 17;
}

static void fill(struct region *region)
{
	for (size_t i = 0; i < region->size; i++)
		region->buf[i] = pattern(i);
}

static int verify(const struct region *region, size_t size, const char *what)
{
	for (size_t i = 0; i < size; i++)
		if (region->buf[i] != pattern(i))
			return log_fail(
				"benchmark: byte %zu of the memory "
				"that was %s is wrong: the figures "
				"mean nothing"
				" [docs/troubleshooting.md#wrong-bytes]",
				i, what);
	log_line("benchmark: %zu bytes verified.", size);
	return 0;
}

/* Asks the server for memory; the answer is where it is. */
static int borrow(struct data *data, struct remote *peer)
{
	struct msg msg = {
		.type = MSG_BENCH,
		.mem = { .length = data->local.size },
	};

	log_line("benchmark: asking for %zu bytes.", data->local.size);
	if (data_post_send(data, SLOT_SEND_FIRST, &msg) ||
	    hello_await(data, MSG_MR, &msg))
		return -1;
	if (msg.mode != MODE_BENCH || msg.mem.length < data->local.size)
		return log_fail("protocol error: the server offers %u bytes "
				"for a %s",
				msg.mem.length, msg_mode_name(msg.mode));
	*peer = msg.mem;
	return 0;
}

/* Tells the server that we are done; its answer is that all bytes are right. */
static int give_back(struct data *data)
{
	struct msg msg = { .type = MSG_DONE };

	if (data_post_send(data, SLOT_SEND_DONE, &msg))
		return -1;
	return hello_await(data, MSG_DONE, &msg);
}

/*
 * Warms up, takes samples of the latency at depth 1, then the throughput at depth.
 * To sort the samples takes too long for a server that waits.
 */
static int measure(struct pump *pump, struct stats *stats, uint64_t *samples,
		   const struct options *options)
{
	unsigned int warm_up = options->count / 10 + 1;
	uint64_t started;

	*stats = (struct stats){
		.op = pump->opcode == IBV_WR_RDMA_READ ? "read" : "write",
		.bytes = options->bytes,
		.depth = options->depth,
		.count = options->count,
	};
	if (pump_run(pump, options->depth, warm_up > 100 ? 100 : warm_up, NULL))
		return -1;
	if (pump_run(pump, 1, options->count, samples))
		return -1;
	started = stats_now();
	if (pump_run(pump, options->depth, options->count, NULL))
		return -1;
	stats->elapsed = stats_now() - started;
	return 0;
}

static int run_loops(struct data *data, const struct options *options,
		     struct stats *stats, uint64_t *samples)
{
	struct pump pump = {
		.data = data,
		.opcode = IBV_WR_RDMA_WRITE,
		.without = options->without,
	};

	if (borrow(data, &pump.peer))
		return -1;
	pump.beat = pump.peer.addr + beat_at(data->local.size);
	fill(&data->local);
	if (measure(&pump, &stats[0], samples, options))
		return -1;
	/* What the reads are to bring back must not be here already. */
	memset(data->local.buf, 0, data->local.size);
	pump.opcode = IBV_WR_RDMA_READ;
	if (measure(&pump, &stats[1], samples + options->count, options))
		return -1;
	if (verify(&data->local, data->local.size, "read"))
		return -1;
	return give_back(data);
}

int bench_client(struct data *data, const struct options *options)
{
	struct stats stats[2];
	uint64_t *samples = calloc(options->count, 2 * sizeof(*samples));
	int ret;

	if (!samples)
		return log_fail_errno("calloc", errno, "give a smaller -n");
	ret = run_loops(data, options, stats, samples);
	if (ret == 0) {
		stats_latency(&stats[0], samples, options->count);
		stats_latency(&stats[1], samples + options->count,
			      options->count);
		stats_print(stats, 2, options->csv);
	}
	free(samples);
	return ret;
}

/* The server's last word: nothing comes after it. */
static int confirm(struct data *data)
{
	struct msg msg = { .type = MSG_DONE };
	struct ibv_wc wc;

	if (data_post_send(data, SLOT_SEND_DONE, &msg) || data_wait(data, &wc))
		return -1;
	if (wc.status != IBV_WC_SUCCESS)
		return log_fail_wc("send of MSG_DONE", &wc);
	return 0;
}

int bench_refuse(struct data *data)
{
	log_line("benchmark: refused, since this server lends no memory.");
	return confirm(data);
}

/* Sleeps until there may be a completion, as long as signs of life come. */
static int sleep_beside(struct conn *conn, const volatile uint64_t *beat)
{
	uint64_t last;
	int news;

	do {
		last = *beat;
		news = wait_readable(conn->comp->fd, conn_peer_fd(conn),
				     conn->patience.stop_fd,
				     wait_deadline(conn->patience.timeout_ms));
	} while (news < 0 && errno == ETIMEDOUT && *beat != last);
	if (news < 0)
		return wait_fail("a sign of life in a benchmark", errno,
				 &conn->patience);
	return 0;
}

/* The client is busy with our memory, and silent for that long. */
static int await_done(struct data *data, const volatile uint64_t *beat)
{
	bool sent = false, received = false;
	struct msg msg;
	struct ibv_wc wc;
	int n;

	while (!sent || !received) {
		n = data_look(data, &wc);
		if (n < 0)
			return -1;
		if (n == 0 ? sleep_beside(data->conn, beat) :
			     hello_take(data, &wc, MSG_DONE, &msg, &sent,
					&received))
			return -1;
	}
	return 0;
}

int bench_serve(struct data *data, uint32_t length)
{
	struct msg msg = { .type = MSG_MR, .mode = MODE_BENCH };
	size_t beat = beat_at(length);

	log_line("benchmark: lending %u bytes.", length);
	if (data_lend(data, beat + sizeof(uint64_t)))
		return -1;
	msg.mem = (struct remote){
		.addr = (uintptr_t)data->exposed.buf,
		.rkey = data->exposed.mr->rkey,
		.length = length,
	};
	if (data_post_send(data, SLOT_SEND_FIRST, &msg) ||
	    await_done(data, (uint64_t *)(data->exposed.buf + beat)) ||
	    verify(&data->exposed, length, "written"))
		return -1;
	return confirm(data);
}
