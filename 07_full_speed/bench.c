/*
 * bench.c - how fast are writes and reads
 */
#include "bench.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>

#include "cm_help.h"
#include "echo.h"
#include "hello.h"
#include "log.h"
#include "log_wc.h"
#include "pump.h"
#include "stats.h"

/* How many kinds of operations are measured. */
#define OPS 3

/* Where the signs of life are in lent memory: after length bytes, aligned. */
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
				"benchmark: byte %zu of the memory that was %s is wrong: the figures mean nothing [docs/troubleshooting.md#wrong-bytes]",
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
		return log_fail(
			"protocol error: the server offers %u bytes for a %s",
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

/* The three loops, one of which is run. */
struct loops {
	struct pump pump;
	struct credits credits;
	bool send; /* the loop is not the pump's */
	unsigned int count; /* of those that were measured */
	struct stats stats[OPS];
	double cpu[OPS]; /* seconds of this program's processor, at depth */
};

static int run_loop(struct loops *loops, unsigned int depth, unsigned int count,
		    uint64_t *samples)
{
	return loops->send ? echo_send(loops->pump.data, &loops->credits, depth,
				       count, samples) :
			     pump_run(&loops->pump, depth, count, samples);
}

static double cpu_seconds(void)
{
	struct rusage used;

	/* Fails only for a bad address. */
	getrusage(RUSAGE_SELF, &used);
	return used.ru_utime.tv_sec + used.ru_stime.tv_sec +
	       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/*
 * Warms up, samples the latency at depth 1, then measures the throughput at
 * depth. It sorts no samples yet, since that would keep the server waiting too
 * long.
 */
static int measure(struct loops *loops, const char *op, uint64_t *samples,
		   const struct options *options)
{
	struct stats *stats = &loops->stats[loops->count];
	unsigned int warm_up = options->count / 10 + 1;
	double cpu;

	*stats = (struct stats){
		.op = op,
		.bytes = options->bytes,
		.depth = options->depth,
		.count = options->count,
	};
	samples += (size_t)loops->count * options->count;
	if (run_loop(loops, options->depth, warm_up > 100 ? 100 : warm_up,
		     NULL))
		return -1;
	if (run_loop(loops, 1, options->count, samples))
		return -1;
	cpu = cpu_seconds();
	stats->elapsed = stats_now();
	if (run_loop(loops, options->depth, options->count, NULL))
		return -1;
	stats->elapsed = stats_now() - stats->elapsed;
	loops->cpu[loops->count++] = cpu_seconds() - cpu;
	return 0;
}

/* How many READs the queue pair may have under way, whatever -q says. */
static int print_reads(struct ibv_qp *qp)
{
	struct ibv_device_attr device;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err = ibv_query_qp(qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC, &init);

	if (err)
		return log_fail_errno("ibv_query_qp", err,
				      "what was agreed remains unknown");
	err = ibv_query_device(qp->context, &device);
	if (err)
		return log_fail_errno("ibv_query_device", err,
				      "its limits remain unknown");
	log_line(
		"benchmark: at most %d reads at a time, as was agreed; the device can do %d.",
		attr.max_rd_atomic, device.max_qp_init_rd_atom);
	return 0;
}

static int run_loops(struct data *data, const struct options *options,
		     struct loops *loops, uint64_t *samples)
{
	struct pump *pump = &loops->pump;

	*pump = (struct pump){
		.data = data,
		.opcode = IBV_WR_RDMA_WRITE,
		.without = options->without,
		.beats_max = channel_sends(options->depth) - options->depth,
	};
	if (borrow(data, &pump->peer) || print_reads(data->conn->qp))
		return -1;
	pump->beat = pump->peer.addr + beat_at(data->local.size);
	fill(&data->local);
	if (measure(loops, "write", samples, options))
		return -1;
	/* The reads must not bring back what is here already. */
	memset(data->local.buf, 0, data->local.size);
	pump->opcode = IBV_WR_RDMA_READ;
	if (measure(loops, "read", samples, options))
		return -1;
	if (verify(&data->local, data->local.size, "read"))
		return -1;
	if (give_back(data))
		return -1;
	/* What is sent here has a number with it, as immediate data. */
	if (!cm_has_immediate(data->conn->pd->context))
		return 0;
	loops->send = true;
	return measure(loops, "send", samples, options);
}

/* Half of what an operation takes, and the processor's time for 10^9 bytes. */
static void print_more(const struct loops *loops, bool csv)
{
	const char *row = csv ? "%s,%.1f,%.2f" : "%-5s  %8.1f  %8.2f";

	log_line("%s",
		 csv ? "op,half_us,cpu_per_gb_s" : "op      half us  cpu/GB s");
	for (unsigned int i = 0; i < loops->count; i++) {
		const struct stats *stats = &loops->stats[i];

		log_line(row, stats->op, stats->median / 2e3,
			 loops->cpu[i] * 1e9 / stats->bytes / stats->count);
	}
}

int bench_client(struct data *data, const struct options *options)
{
	struct loops loops = { 0 };
	uint64_t *samples = calloc(options->count, OPS * sizeof(*samples));
	int ret;

	if (!samples)
		return log_fail_errno("calloc", errno, "give a smaller -n");
	ret = run_loops(data, options, &loops, samples);
	for (unsigned int i = 0; ret == 0 && i < loops.count; i++)
		stats_latency(&loops.stats[i],
			      samples + (size_t)i * options->count,
			      options->count);
	if (ret == 0) {
		stats_print(loops.stats, loops.count, options->csv);
		print_more(&loops, options->csv);
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

int bench_serve(struct data *data, uint32_t length, unsigned int depth)
{
	struct msg msg = { .type = MSG_MR, .mode = MODE_BENCH };
	struct msg done = { .type = MSG_DONE };
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
	if (!cm_has_immediate(data->conn->pd->context))
		return confirm(data);
	/* The SENDs must not bring what is here already, and need receives. */
	memset(data->exposed.buf, 0, length);
	if (echo_post(data, length, depth) ||
	    data_post_send(data, SLOT_SEND_DONE, &done) ||
	    echo_serve(data, length, depth))
		return -1;
	return verify(&data->exposed, length, "sent");
}
