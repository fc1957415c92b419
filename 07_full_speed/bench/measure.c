/*
 * measure.c - the end that measures
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>

#include "bench.h"
#include "echo.h"
#include "explain.h"
#include "iwarp.h"
#include "log.h"
#include "pump.h"
#include "stats.h"

/* How many kinds of operations are measured. */
#define OPS 3

static void fill(struct bench *bench)
{
	char *bytes = bench->memory.buf;

	for (size_t i = 0; i < bench->bytes; i++)
		bytes[i] = bench_pattern(i);
}

/* What a read brings: on iWARP, it comes as a write by the peer. */
static int access_of(const struct bench *bench)
{
	if (iwarp_is(bench->conn->pd->context))
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	return IBV_ACCESS_LOCAL_WRITE;
}

/* Asks the server for memory; the answer is where it is. */
static int borrow(struct bench *bench, struct pump *pump)
{
	struct head head = {
		.type = HEAD_HELLO,
		.mode = MODE_BENCH,
		.number = bench->bytes,
	};

	if (bench_memory(bench, bench->bytes, access_of(bench)))
		return -1;
	log_line("benchmark: asking for %u bytes.", bench->bytes);
	if (talk_send(bench->talk, SLOT_SEND_FIRST, &head) ||
	    talk_await(bench->talk, HEAD_WELCOME, &head))
		return -1;
	if (head.number != bench->bytes)
		return log_fail("protocol error: the server lends %llu bytes",
				(unsigned long long)head.number);
	pump->addr = head.addr;
	pump->rkey = head.rkey;
	return 0;
}

/* Tells the server that we are done; its answer is that all bytes are right. */
static int give_back(struct bench *bench)
{
	struct head head = { .type = HEAD_END };

	if (talk_send(bench->talk, SLOT_SEND_LAST, &head))
		return -1;
	return talk_await(bench->talk, HEAD_STORED, &head);
}

/* The three loops, one of which is run. */
struct loops {
	struct bench *bench;
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
	return loops->send ? echo_send(loops->bench, &loops->credits, depth,
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
static int measure_op(struct loops *loops, const char *op, uint64_t *samples,
		      const struct bench *bench)
{
	struct stats *stats = &loops->stats[loops->count];
	unsigned int warm_up = bench->count / 10 + 1;
	double cpu;

	*stats = (struct stats){
		.op = op,
		.bytes = bench->bytes,
		.depth = bench->depth,
		.count = bench->count,
	};
	samples += (size_t)loops->count * bench->count;
	if (run_loop(loops, bench->depth, warm_up > 100 ? 100 : warm_up, NULL))
		return -1;
	if (run_loop(loops, 1, bench->count, samples))
		return -1;
	cpu = cpu_seconds();
	stats->elapsed = stats_now();
	if (run_loop(loops, bench->depth, bench->count, NULL))
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
		return explain_call("ibv_query_qp", err);
	err = ibv_query_device(qp->context, &device);
	if (err)
		return explain_call("ibv_query_device", err);
	log_line(
		"benchmark: at most %d reads at a time, as was agreed; the device can do %d.",
		attr.max_rd_atomic, device.max_qp_init_rd_atom);
	return 0;
}

static int run_loops(struct bench *bench, struct loops *loops,
		     uint64_t *samples)
{
	struct pump *pump = &loops->pump;

	*pump = (struct pump){
		.bench = bench,
		.opcode = IBV_WR_RDMA_WRITE,
		.beats_max = bench->depth,
	};
	if (borrow(bench, pump) || print_reads(bench->conn->id->qp))
		return -1;
	pump->beat = pump->addr + bench_beat(bench->bytes);
	fill(bench);
	if (measure_op(loops, "write", samples, bench))
		return -1;
	/* The reads must not bring back what is here already. */
	memset(bench->memory.buf, 0, bench->bytes);
	pump->opcode = IBV_WR_RDMA_READ;
	if (measure_op(loops, "read", samples, bench))
		return -1;
	if (bench_verify(bench, bench->bytes, "read"))
		return -1;
	if (give_back(bench))
		return -1;
	/* What is sent here has a number with it, as immediate data. */
	if (iwarp_is(bench->conn->pd->context))
		return 0;
	loops->send = true;
	return measure_op(loops, "send", samples, bench);
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

int measure(struct bench *bench)
{
	struct loops loops = { .bench = bench };
	uint64_t *samples = calloc(bench->count, OPS * sizeof(*samples));
	int ret;

	if (!samples)
		return log_fail_errno("calloc", errno, "give a smaller -n");
	ret = run_loops(bench, &loops, samples);
	for (unsigned int i = 0; ret == 0 && i < loops.count; i++)
		stats_latency(&loops.stats[i],
			      samples + (size_t)i * bench->count, bench->count);
	if (ret == 0) {
		stats_print(loops.stats, loops.count, bench->csv);
		print_more(&loops, bench->csv);
	}
	free(samples);
	return ret;
}
