/*
 * pump.c - many RDMA operations, one after another or many at a time
 */
#include "pump.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "explain.h"
#include "log.h"
#include "stats.h"

/* The longest chain, and the most completions taken in one call. */
#define PUMP_CHAIN 64
#define PUMP_BATCH 32

/*
 * The most that a chain may carry. With one doorbell for 32 MiB, rxe is slower than with
 * one for each MiB: see docs/performance.md.
 */
#define PUMP_CHAIN_BYTES (1 << 20)

/* How often to find nothing before looking at the clock and the peer. */
#define SPINS 65536

/* Finding completions counts as much as finding nothing this often. */
#define SPINS_OF_BATCH 256

/* One run of a pump. */
struct run {
	struct pump *pump;
	struct ibv_sge sge;
	struct ibv_send_wr wrs[PUMP_CHAIN];
	unsigned int chain; /* how many requests to post together */
	unsigned int posted, done, count;
	unsigned int spins; /* since a signal was looked for */
	uint64_t next_report; /* when to print the progress */
	uint64_t next_beat; /* when to give a sign of life */
	unsigned int before_beat; /* what was posted before the last one */
	bool reported;
};

static int send_flags(const struct pump *pump, bool last)
{
	const struct bench *bench = pump->bench;
	int flags = 0;

	/* A completion costs the device and us; one for each chain will do. */
	if (last || bench->without & WITHOUT_SELECTIVE)
		flags |= IBV_SEND_SIGNALED;
	/* Copied at posting: the device need not fetch it from memory. */
	if (pump->opcode == IBV_WR_RDMA_WRITE &&
	    !(bench->without & WITHOUT_INLINE) &&
	    bench->memory.size <= bench->max_inline)
		flags |= IBV_SEND_INLINE;
	return flags;
}

/* Fills the chain, once: later, only the wr_id of the last one changes. */
static void prepare(struct run *run)
{
	const struct pump *pump = run->pump;

	for (unsigned int i = 0; i < run->chain; i++) {
		bool last = i == run->chain - 1;
		bool alone = last || pump->bench->without & WITHOUT_CHAINS;
		int flags = send_flags(pump, last);

		run->wrs[i] = (struct ibv_send_wr){
			/* How many operations are over when this one is. */
			.wr_id = flags & IBV_SEND_SIGNALED ? 1 : 0,
			.next = alone ? NULL : &run->wrs[i + 1],
			.sg_list = &run->sge,
			.num_sge = 1,
			.opcode = pump->opcode,
			.send_flags = flags,
			.wr.rdma = {
				.remote_addr = pump->addr,
				.rkey = pump->rkey,
			},
		};
	}
}

static void run_init(struct run *run, struct pump *pump, unsigned int depth,
		     unsigned int count)
{
	const struct region *memory = &pump->bench->memory;

	*run = (struct run){
		.pump = pump,
		.count = count,
		.sge = {
			.addr = (uintptr_t)memory->buf,
			.length = memory->size,
			.lkey = memory->mr->lkey,
		},
		.next_report = stats_now() + 2000000000,
	};
	/* A quarter of the queue: the rest works while a chain is refilled. */
	run->chain = depth / 4;
	if (run->chain > PUMP_CHAIN)
		run->chain = PUMP_CHAIN;
	if (run->chain > PUMP_CHAIN_BYTES / memory->size)
		run->chain = PUMP_CHAIN_BYTES / memory->size;
	if (!run->chain)
		run->chain = 1;
	prepare(run);
}

static int post_operations(struct run *run, struct ibv_send_wr *wr)
{
	struct conn *conn = run->pump->bench->conn;
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(conn->id->qp, wr, &bad);

	/* From bad on, nothing was posted: that will never report. */
	for (; wr != bad; wr = wr->next)
		conn->pending += !!wr->wr_id;
	if (err)
		return log_fail_errno(
			"ibv_post_send", err,
			"is -q more than the device allows [docs/troubleshooting.md#post]");
	return 0;
}

/* Posts the last n of the chain: the end of it is what is signalled. */
static int post_chain(struct run *run, unsigned int n)
{
	struct ibv_send_wr *first = &run->wrs[run->chain - n];

	if (!(run->pump->bench->without & WITHOUT_SELECTIVE))
		first[n - 1].wr_id = n;
	run->posted += n;
	if (!(run->pump->bench->without & WITHOUT_CHAINS))
		return post_operations(run, first);
	for (unsigned int i = 0; i < n; i++)
		if (post_operations(run, &first[i]))
			return -1;
	return 0;
}

/* Posts chains as long as the queue has room for a whole one. */
static int refill(struct run *run, unsigned int depth)
{
	while (run->posted < run->count) {
		unsigned int left = run->count - run->posted;
		unsigned int n = left < run->chain ? left : run->chain;

		if (run->posted - run->done + n > depth)
			break;
		if (post_chain(run, n))
			return -1;
	}
	return 0;
}

/* Whether the device copies a sign of life at posting. */
static bool beat_inline(const struct pump *pump)
{
	return pump->bench->max_inline >= sizeof(uint64_t);
}

/*
 * A sign of life: the peer's program, which sleeps, finds another number when it
 * looks. No receive is used up, and nothing is reported unless it fails.
 */
static int post_beat(struct run *run)
{
	const struct pump *pump = run->pump;
	const struct region *messages = &pump->bench->talk->messages;
	/* In the place of the first message, which has been sent. */
	uint64_t *number = messages->buf;
	struct ibv_sge sge = {
		.addr = (uintptr_t)number,
		.length = sizeof(*number),
		.lkey = messages->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = beat_inline(pump) ? IBV_SEND_INLINE : 0,
		.wr.rdma = {
			.remote_addr = pump->beat,
			.rkey = pump->rkey,
		},
	};

	++*number;
	return post_operations(run, &wr);
}

/*
 * Four times a second, since a peer waits for at least one. They bring no
 * completion: only that of an operation behind them shows that they are done. If the
 * network is silent for so long that they would fill the queue, they stop. Without
 * inline data, the number may still be read until then: one at a time.
 */
static int beat(struct run *run)
{
	struct pump *pump = run->pump;
	unsigned int max = beat_inline(pump) ? pump->beats_max : 1;
	uint64_t now;

	if (!pump->beat)
		return 0;
	now = stats_now();
	if (now < run->next_beat)
		return 0;
	run->next_beat = now + 250000000;
	if (run->done > run->before_beat)
		pump->beats = 0;
	if (pump->beats >= max)
		return 0;
	pump->beats++;
	run->before_beat = run->posted;
	return post_beat(run);
}

/* If the peer has left, what was posted comes back. */
static int on_news(struct conn *conn)
{
	struct ibv_wc wc;

	if (conn_news(conn))
		return -1;
	if (conn->established)
		return 0;
	if (conn_wait(conn, &wc))
		return -1;
	/* One that is not signalled was not counted: it reports since it failed. */
	conn->pending += !wc.wr_id;
	if (wc.status != IBV_WC_SUCCESS)
		return explain_completion("RDMA operation", &wc);
	return log_fail(
		"the peer left in a benchmark [docs/troubleshooting.md#left]");
}

/* Nothing came for a while: is the peer still there, is it too late? */
static int look_around(struct conn *conn, uint64_t deadline)
{
	int news =
		wait_readable(conn->events->fd, -1, conn->patience.stop_fd, 0);

	if (news > 0)
		return on_news(conn);
	if (errno == ETIMEDOUT && stats_now() < deadline)
		return 0;
	return wait_fail("a completion", errno, &conn->patience);
}

/* Takes one to max completions off the CQ, without sleeping. */
static int spin(struct run *run, struct ibv_wc *wcs, int max)
{
	struct conn *conn = run->pump->bench->conn;
	uint64_t deadline = 0;

	for (;;) {
		for (int i = 0; i < SPINS; i++) {
			int n = ibv_poll_cq(conn->cq, max, wcs);

			run->spins += n ? SPINS_OF_BATCH : 1;
			if (n > 0)
				return n;
			if (n < 0)
				return explain_call("ibv_poll_cq", 0);
		}
		if (!deadline)
			deadline = stats_now() +
				   conn->patience.timeout_ms * 1000000ULL;
		if (look_around(conn, deadline) || beat(run))
			return -1;
	}
}

/* Where completions keep coming, spin() never looks around. */
static int look_for_signal(struct run *run)
{
	const struct patience *patience = &run->pump->bench->conn->patience;

	if (run->spins < SPINS)
		return 0;
	run->spins = 0;
	if (wait_readable(-1, -1, patience->stop_fd, 0) < 0 &&
	    errno == ETIMEDOUT)
		return 0;
	return wait_fail("a completion", errno, patience);
}

static int complete(struct run *run)
{
	struct conn *conn = run->pump->bench->conn;
	int max = run->pump->bench->without & WITHOUT_BATCHES ? 1 : PUMP_BATCH;
	struct ibv_wc wcs[PUMP_BATCH];
	int n = spin(run, wcs, max);

	/* Flushed ones that were not to be reported have no wr_id. */
	for (int i = 0; i < n; i++)
		conn->pending -= !!wcs[i].wr_id;
	for (int i = 0; i < n; i++) {
		if (wcs[i].status != IBV_WC_SUCCESS)
			return explain_completion("RDMA operation", &wcs[i]);
		/* Nothing is due from the peer, and its wr_id is no number. */
		if (wcs[i].opcode & IBV_WC_RECV)
			return log_fail(
				"protocol error: a message in the middle of a benchmark");
		run->done += wcs[i].wr_id;
	}
	return n < 0 ? -1 : 0;
}

/* For a person who is waiting; not for a file. */
static void report(struct run *run)
{
	uint64_t now = stats_now();

	if (now < run->next_report || !isatty(STDERR_FILENO))
		return;
	run->next_report = now + 500000000;
	/* Back to the line's beginning: an error may be what comes next. */
	fprintf(stderr, "%3u %%\r",
		(unsigned int)(100ULL * run->done / run->count));
	run->reported = true;
}

int pump_run(struct pump *pump, unsigned int depth, unsigned int count,
	     uint64_t *samples)
{
	struct run run;
	uint64_t before, now;

	run_init(&run, pump, depth, count);
	before = samples ? stats_now() : 0;
	while (run.done < count) {
		unsigned int op = run.done;

		if (look_for_signal(&run) || refill(&run, depth) ||
		    complete(&run))
			return -1;
		/* One look at the clock ends this one and begins the next, ... */
		if (samples) {
			now = stats_now();
			samples[op] = now - before;
			before = now;
		}
		/* ... except where there is something between the two. */
		if (run.done % 256 == 0) {
			report(&run);
			if (beat(&run))
				return -1;
			before = samples ? stats_now() : 0;
		}
	}
	if (run.reported)
		fputs("     \r", stderr);
	return 0;
}
