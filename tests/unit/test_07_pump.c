/*
 * test_07_pump.c - what the benchmark's loop asks of the device, and how it waits and
 * fails; the clock and the peer are played as well
 */
#include "pump.h"

#include <stdio.h>

#include "scripted.h"
#include "stats.h"

#define S 1000000000ULL

static uint64_t clock_ns, clock_step;
static int peer_fds[2];
static char memory[256];

uint64_t stats_now(void)
{
	return clock_ns += clock_step;
}

int conn_wait(struct conn *conn, struct ibv_wc *wc)
{
	(void)conn;
	*wc = (struct ibv_wc){ .status = IBV_WC_WR_FLUSH_ERR };
	return 0;
}

/* It has left. */
int conn_news(struct conn *conn)
{
	conn->established = false;
	return 0;
}

static struct conn conn;
static struct rdma_event_channel channel;
static struct rdma_cm_id id = { .qp = &qp };
static struct talk talk;
static struct bench bench = { .conn = &conn,
			      .talk = &talk,
			      .memory = { .buf = memory, .mr = &mr } };
static struct pump pump;

/* A device that works, and a pump that writes. */
static void reset(void)
{
	dev_reset();
	clock_ns = 0;
	clock_step = 1000;
	conn = (struct conn){
		.patience = { .timeout_ms = 1000, .stop_fd = -1 },
		.events = &channel,
		.id = &id,
		.cq = &cq,
	};
	channel.fd = peer_fds[0];
	bench.memory.size = 64;
	bench.max_inline = 64;
	bench.without = 0;
	talk.messages = (struct region){ 0 };
	pump = (struct pump){
		.bench = &bench,
		.opcode = IBV_WR_RDMA_WRITE,
		.addr = 0x1000,
		.rkey = 9,
	};
}

static int run(unsigned int depth, unsigned int count, uint64_t *samples)
{
	int ret;

	ret = CAPTURED(pump_run(&pump, depth, count, samples));
	assert_string_equal(said.out, "");
	return ret;
}

/* All count operations are done, never more than depth at a time. */
static void assert_done(unsigned int depth, unsigned int count)
{
	assert_int_equal(run(depth, count, NULL), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(dev.posted, count);
	assert_int_equal(dev.taken, count);
	assert_true(dev.most <= depth);
}

TEST(counts_and_depths)
{
	static const unsigned int depths[] = { 1, 2, 3, 4, 7, 8, 64, 255, 1024 };
	static const unsigned int counts[] = { 1, 2, 3, 63, 64, 65, 999, 2049 };

	for (int i = 0; i < 9 * 8; i++) {
		unsigned int depth = depths[i / 8], count = counts[i % 8];

		reset();
		dev.ready = 1 + i % 40;
		assert_done(depth, count);
		/* The queue is kept full but for one chain. */
		if (count >= depth)
			assert_true(dev.most > depth * 3 / 4);
	}
}

/* What count operations at depth 64 take, without some of the steps. */
TEST(without)
{
	static const struct {
		unsigned int without, count, calls, signalled, polled;
	} runs[] = {
		{ 0, 160, 10, 10, 0 },
		/* The last chain is shorter. */
		{ 0, 37, 3, 3, 0 },
		{ WITHOUT_SELECTIVE, 165, 11, 165, 0 },
		{ WITHOUT_CHAINS, 165, 165, 11, 0 },
		{ WITHOUT_BATCHES, 165, 11, 11, 1 },
		{ WITHOUT_SELECTIVE | WITHOUT_CHAINS | WITHOUT_BATCHES, 165,
		  165, 165, 1 },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		reset();
		bench.without = runs[i].without;
		assert_done(64, runs[i].count);
		assert_int_equal(dev.calls, runs[i].calls);
		assert_int_equal(dev.signalled, runs[i].signalled);
		assert_true(runs[i].polled ? dev.polled == 1 : dev.polled > 1);
	}
}

/* Whether all operations of that many bytes are inline, or else none. */
static bool is_inline(enum ibv_wr_opcode opcode, size_t size,
		      unsigned int max_inline, unsigned int without)
{
	int count = 0;

	reset();
	pump.opcode = opcode;
	bench.without = without;
	bench.memory.size = size;
	bench.max_inline = max_inline;
	assert_done(8, 20);
	for (int i = 0; i < 20; i++)
		count += !!(dev.requests[i].wr.send_flags & IBV_SEND_INLINE);
	assert_true(count == 0 || count == 20);
	return count;
}

TEST(inline)
{
	assert_true(is_inline(IBV_WR_RDMA_WRITE, 64, 64, 0));
	assert_false(is_inline(IBV_WR_RDMA_WRITE, 65, 64, 0));
	assert_false(is_inline(IBV_WR_RDMA_WRITE, 64, 64, WITHOUT_INLINE));
	assert_false(is_inline(IBV_WR_RDMA_WRITE, 1, 0, 0));
	assert_false(is_inline(IBV_WR_RDMA_READ, 1, 64, 0));
}

TEST(samples)
{
	uint64_t samples[300] = { 0 };

	reset();
	assert_int_equal(run(1, 300, samples), 0);
	/* From one look at the clock to the next. */
	for (int i = 0; i < 300; i++)
		assert_int_equal(samples[i], 1000);
	assert_int_equal(dev.most, 1);
}

TEST(failures)
{
	reset();
	dev.fails_at = 70;
	assert_int_equal(run(64, 160, NULL), -1);
	assert_one_line(said.err, "error: RDMA operation: status 10 (");
	reset();
	dev.broken = true;
	assert_int_equal(run(64, 160, NULL), -1);
	assert_one_line(said.err, "error: ibv_poll_cq: ");
	/* Its wr_id is no number of operations. */
	reset();
	dev.message_at = 3;
	assert_int_equal(run(1, 100, NULL), -1);
	assert_one_line(said.err, "error: protocol error: a message in the "
				  "middle of a benchmark");
}

/* What the device has refused, and what was chained behind it, never reports. */
TEST(refused)
{
	for (unsigned int at = 1; at <= 200; at += 7)
		for (int without = 0; without < 4; without++) {
			unsigned int n = 0;

			reset();
			dev.refuses_at = at;
			bench.without = (without & 1 ? WITHOUT_SELECTIVE : 0) |
					(without & 2 ? WITHOUT_CHAINS : 0);
			assert_int_equal(run(64, 1000, NULL), -1);
			assert_one_line(said.err, "error: ibv_post_send: ");
			for (unsigned int i = dev.taken; i < dev.posted; i++)
				n += !!dev.requests[i % REQUESTS].wr.wr_id;
			assert_int_equal(conn.pending, n);
		}
}

/* Nothing completes, and the clock is rarely looked at. */
TEST(deadline)
{
	reset();
	dev.ready = 0;
	clock_step = S * 3 / 10;
	assert_int_equal(run(64, 160, NULL), -1);
	assert_one_line(said.err, "a completion: nothing came within 1 s");
	assert_true(clock_ns <= S * 2);
	assert_true(dev.polls > 4 * 1000);
}

/* Signs of life take no more of the queue than is left for them. */
TEST(beats)
{
	reset();
	talk.messages = (struct region){ .buf = memory, .mr = &mr };
	pump.beat = 1;
	pump.beats_max = 3;
	dev.ready = 0;
	conn.patience.timeout_ms = 60000;
	clock_step = S / 10;
	assert_int_equal(run(4, 160, NULL), -1);
	assert_one_line(said.err, "a completion: nothing came within 60 s");
	assert_int_equal(dev.posted, 4 + 3);
	/* Those that are done make room for others. */
	dev.taken = dev.posted;
	dev.ready = 100;
	clock_step = S;
	assert_int_equal(run(1, 1024, NULL), 0);
	assert_int_equal(dev.posted, 4 + 3 + 1024 + 4);
}

TEST(peer_leaves)
{
	char c;

	reset();
	dev.ready = 0;
	assert_int_equal(write(peer_fds[1], "", 1), 1);
	assert_int_equal(run(64, 160, NULL), -1);
	assert_one_line(said.err, "error: RDMA operation: status 5 (");
	assert_int_equal(read(peer_fds[0], &c, 1), 1);
}

static int open_peer(void **state)
{
	(void)state;
	return pipe(peer_fds);
}

static int close_peer(void **state)
{
	(void)state;
	return close(peer_fds[0]) || close(peer_fds[1]);
}

AROUND_ALL(open_peer, close_peer)
