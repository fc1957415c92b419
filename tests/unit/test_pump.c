/*
 * test_pump.c - what the benchmark's loop asks of the device
 */
#include "pump_device.h"

/* All count operations are done, never more than depth at a time. */
static void assert_done(unsigned int depth, unsigned int count)
{
	assert_int_equal(run(depth, count, NULL), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(fake.posted, count);
	assert_int_equal(fake.taken, count);
	assert_true(fake.most <= depth);
}

TEST(counts_and_depths)
{
	static const unsigned int depths[] = { 1, 2, 3, 4, 7, 8, 64, 255, 1024 };
	static const unsigned int counts[] = { 1, 2, 3, 63, 64, 65, 999, 2049 };

	for (int i = 0; i < 9 * 8; i++) {
		unsigned int depth = depths[i / 8], count = counts[i % 8];

		reset();
		fake.ready = 1 + i % 40;
		assert_done(depth, count);
		/* The queue is kept full but for one chain. */
		if (count >= depth)
			assert_true(fake.most > depth * 3 / 4);
	}
}

TEST(request)
{
	const struct ibv_send_wr *wr = &fake.queue[0];

	reset();
	pump.opcode = IBV_WR_RDMA_READ;
	assert_done(4, 1);
	assert_int_equal(wr->opcode, IBV_WR_RDMA_READ);
	assert_int_equal(wr->num_sge, 1);
	assert_true(fake.sge.addr == (uintptr_t)memory);
	assert_int_equal(fake.sge.length, 64);
	assert_int_equal(fake.sge.lkey, 7);
	assert_true(wr->wr.rdma.remote_addr == 0x1000);
	assert_int_equal(wr->wr.rdma.rkey, 9);
	/* A read takes nothing along. */
	assert_int_equal(wr->send_flags, IBV_SEND_SIGNALED);
}

/* count operations at depth 64 without some of the steps. */
static void do_without(unsigned int without, unsigned int count)
{
	reset();
	pump.without = without;
	assert_done(64, count);
}

TEST(chains)
{
	do_without(0, 160);
	assert_int_equal(fake.longest, 16);
	assert_int_equal(fake.calls, 10);
	assert_int_equal(fake.signalled, 10);
	assert_true(fake.polled > 1);
}

TEST(shorter_last_chain)
{
	do_without(0, 37);
	assert_int_equal(fake.calls, 3);
	assert_int_equal(fake.signalled, 3);
	assert_true(fake.queue[36].send_flags & IBV_SEND_SIGNALED);
	assert_int_equal(fake.queue[36].wr_id, 5);
}

TEST(without)
{
	do_without(WITHOUT_SELECTIVE, 165);
	assert_int_equal(fake.signalled, 165);
	assert_int_equal(fake.calls, 11);
	do_without(WITHOUT_CHAINS, 165);
	assert_int_equal(fake.calls, 165);
	assert_int_equal(fake.signalled, 11);
	do_without(WITHOUT_BATCHES, 165);
	assert_int_equal(fake.polled, 1);
	assert_int_equal(fake.calls, 11);
	do_without(WITHOUT_SELECTIVE | WITHOUT_CHAINS | WITHOUT_BATCHES, 165);
	assert_int_equal(fake.calls, 165);
	assert_int_equal(fake.signalled, 165);
	assert_int_equal(fake.polled, 1);
}

/* Whether all operations of that many bytes are inline, or else none. */
static bool is_inline(enum ibv_wr_opcode opcode, size_t size,
		      unsigned int max_inline, unsigned int without)
{
	int count = 0;

	reset();
	pump.opcode = opcode;
	pump.without = without;
	data.local.size = size;
	conn.max_inline = max_inline;
	assert_done(8, 20);
	for (int i = 0; i < 20; i++)
		count += !!(fake.queue[i].send_flags & IBV_SEND_INLINE);
	assert_true(count == 0 || count == 20);
	return count;
}

TEST(inline)
{
	assert_true(is_inline(IBV_WR_RDMA_WRITE, 1, 64, 0));
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
	assert_int_equal(fake.most, 1);
}

AROUND_ALL(open_peer, close_peer)
