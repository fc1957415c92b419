/*
 * test_memory.c - what a device may do with which memory, and for how long; and what
 * is asked of it that not every device can
 */
#include "data_device.h"

#define SIZE 3000
#define MESSAGES (SLOT_COUNT * MSG_SIZE)
#define PEER_WRITES (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

/* The regions that there must be; over iWARP, what a read fills is open to the peer. */
static const struct {
	int mode, count;
	struct {
		size_t size;
		int access, iwarp;
	} regions[3];
} wanted[] = {
	/* The messages; where an operation of ours begins; what the peer may use. */
	{ MODE_WRITE,
	  3,
	  { { MESSAGES, IBV_ACCESS_LOCAL_WRITE, 0 },
	    { SIZE, 0, 0 },
	    { SIZE, PEER_WRITES, 0 } } },
	{ MODE_READ,
	  3,
	  { { MESSAGES, IBV_ACCESS_LOCAL_WRITE, 0 },
	    { SIZE, IBV_ACCESS_LOCAL_WRITE, 0 },
	    { SIZE, IBV_ACCESS_REMOTE_READ, 0 } } },
};

#define WANTED (sizeof(wanted) / sizeof(*wanted))

static int open_with(int mode, size_t size)
{
	return CAPTURED(data_open(&data, &conn, mode, size));
}

static int open_one(size_t which)
{
	return open_with(wanted[which].mode, SIZE);
}

static void close_captured(void)
{
	CAPTURE(data_close(&data));
}

/* The least that will do, and not a right more. */
TEST(access)
{
	for (int iwarp = 0; iwarp < 2; iwarp++) {
		plain.device.transport_type =
			iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
		for (size_t i = 0; i < WANTED; i++) {
			reset();
			assert_int_equal(open_one(i), 0);
			assert_int_equal(dev.registered, wanted[i].count);
			for (int r = 0; r < wanted[i].count; r++) {
				int more = wanted[i].regions[r].iwarp;

				assert_int_equal(dev.regions[r].mr.length,
						 wanted[i].regions[r].size);
				assert_int_equal(dev.regions[r].access,
						 wanted[i].regions[r].access |
							 (iwarp ? more : 0));
			}
			close_captured();
			assert_string_equal(said.err, "");
		}
	}
	plain.device.transport_type = IBV_TRANSPORT_IB;
}

/* What was there before is nobody's to see; the last is the first to go. */
TEST(zeroed_and_closed)
{
	reset();
	assert_int_equal(open_one(0), 0);
	for (int r = 0; r < dev.registered; r++)
		for (size_t i = 0; i < dev.regions[r].mr.length; i++)
			assert_int_equal(((char *)dev.regions[r].mr.addr)[i],
					 0);
	close_captured();
	for (int r = 0; r < dev.registered; r++)
		assert_int_equal(dev.regions[r].gone, dev.registered - r);
	/* Once more is no harm. */
	close_captured();
	assert_int_equal(dev.gone, dev.registered);
}

/* Half of it was made: that half is given back. */
TEST(refused)
{
	for (int n = 0; n < wanted[0].count; n++) {
		reset();
		dev.refuses = n;
		assert_int_equal(open_one(0), -1);
		assert_one_line(said.err, "error: ibv_reg_mr: Cannot allocate");
		assert_one_line(said.err, "ulimit -l");
		close_captured();
		assert_string_equal(said.err, "");
		assert_int_equal(dev.gone, n);
	}
}

/* What the device may still write to must not become somebody else's. */
TEST(not_taken_back)
{
	reset();
	assert_int_equal(open_one(0), 0);
	dev.keeps = 1;
	close_captured();
	assert_one_line(said.err, "error: ibv_dereg_mr: Device or resource "
				  "busy; its memory is not freed");
	assert_int_equal(dev.gone, dev.registered - 1);
	/* Had it been freed, a sanitizer would say so here. */
	free(dev.regions[1].mr.addr);
}

/* Posts op on memory of the peer's that has length bytes. */
static int post_rdma(enum ibv_wr_opcode op, uint32_t length)
{
	const struct remote peer = { 0x10000, 0x77, length };

	return CAPTURED(data_post_rdma(&data, op, &peer));
}

/* It must fit into what the peer has offered, and goes nowhere else. */
TEST(fits)
{
	static const enum ibv_wr_opcode ops[] = { IBV_WR_RDMA_WRITE,
						  IBV_WR_RDMA_READ };

	reset();
	assert_int_equal(open_one(1), 0);
	for (int i = 0; i < 2; i++) {
		const struct ibv_send_wr *wr = &dev.requests[2 * i + 1].wr;

		assert_int_equal(post_rdma(ops[i], SIZE - 1), -1);
		assert_one_line(said.err, "the peer's memory has 2999 bytes, "
					  "and 3000 are needed");
		assert_int_equal(post_rdma(ops[i], 1), -1);
		assert_int_equal(post_rdma(ops[i], SIZE), 0);
		assert_int_equal(post_rdma(ops[i], SIZE + 1), 0);
		assert_int_equal(dev.posted, 2 * i + 2);
		assert_int_equal(wr->opcode, ops[i]);
		assert_true(wr->wr.rdma.remote_addr == 0x10000);
		assert_int_equal(wr->wr.rdma.rkey, 0x77);
		assert_int_equal(dev.requests[2 * i + 1].sge.length, SIZE);
	}
	forget();
	close_captured();
}

/* Device and port are asked before anything is registered. */
TEST(too_much)
{
	static const struct {
		uint32_t port;
		size_t most;
		const char *error;
	} limits[] = {
		{ UINT32_MAX, 5000,
		  "error: -b 5001: the device registers at most 5000 bytes at a "
		  "time; give both ends -b 5000 or less" },
		{ 4000, 4000,
		  "error: -b 4001: the device writes or reads at most 4000 bytes "
		  "at a time; give both ends -b 4000 or less" },
	};

	for (int i = 0; i < 2; i++) {
		reset();
		plain.ports[2].max_msg_sz = limits[i].port;
		assert_int_equal(open_with(MODE_WRITE, limits[i].most), 0);
		close_captured();
		dev.registered = dev.gone = 0;
		assert_int_equal(open_with(MODE_WRITE, limits[i].most + 1), -1);
		assert_one_line(said.err, limits[i].error);
		assert_int_equal(dev.registered, 0);
		close_captured();
	}
}

#if defined(CHAPTER_05)
/* Each region counts where it is made, and until the device has given it back. */
TEST(held)
{
	static struct held held;

	for (int which = -1; which < 3; which++) {
		reset();
		dev.refuses = which;
		conn.held = &held;
		assert_int_equal(open_one(0), which < 0 ? 0 : -1);
		assert_int_equal(held.of[HELD_MR], which < 0 ? 3 : which);
		close_captured();
		assert_int_equal(held.of[HELD_MR], 0);
	}
	reset();
	conn.held = &held;
	assert_int_equal(open_one(0), 0);
	dev.keeps = 1;
	close_captured();
	assert_int_equal(held.of[HELD_MR], 1);
	dev.keeps = -1;
	close_captured();
	assert_int_equal(held.of[HELD_MR], 0);
}
#endif
