/*
 * test_rdma.c - an RDMA operation, a message, and the memory that they take
 */
#include "data.h"

#include "test.h"
#include "fake_memory.h"

#define SIZE 1024

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
	assert_int_equal(data_open(&data, &conn, MODE_READ, SIZE), 0);
	for (int i = 0; i < 2; i++) {
		posted = 0;
		assert_int_equal(post_rdma(ops[i], SIZE - 1), -1);
		assert_one_line(said.err, "the peer's memory has 1023 bytes, "
					  "and 1024 are needed");
		assert_int_equal(post_rdma(ops[i], 1), -1);
		assert_int_equal(posted, 0);
		assert_int_equal(post_rdma(ops[i], SIZE), 0);
		assert_int_equal(post_rdma(ops[i], SIZE + 1), 0);
		assert_int_equal(posted, 2);
		assert_int_equal(sent.opcode, ops[i]);
		assert_int_equal(sent.send_flags, IBV_SEND_SIGNALED);
		assert_true(sent.wr.rdma.remote_addr == 0x10000);
		assert_int_equal(sent.wr.rdma.rkey, 0x77);
		assert_true(sent.wr_id == (uintptr_t)data.local.buf);
		assert_int_equal(sge.length, SIZE);
	}
	forget();
	data_close(&data);
}

/* A message has a completion, too, and is sent from its own slot. */
TEST(message)
{
	const struct msg msg = { .type = MSG_DONE };

	reset();
	assert_int_equal(data_open(&data, &conn, MODE_WRITE, SIZE), 0);
	assert_int_equal(data_post_send(&data, SLOT_SEND_DONE, &msg), 0);
	assert_int_equal(sent.opcode, IBV_WR_SEND);
	assert_int_equal(sent.send_flags, IBV_SEND_SIGNALED);
	assert_true(sge.addr == (uintptr_t)data_message(&data, SLOT_SEND_DONE));
	assert_int_equal(sge.length, MSG_SIZE);
	forget();
	data_close(&data);
}

/* One byte more than most is refused, and nothing is registered. */
static void assert_too_much(size_t most, const char *error)
{
	int ret = data_open(&data, &conn, MODE_WRITE, most);

	assert_int_equal(ret, 0);
	data_close(&data);
	count = 0;
	ret = CAPTURED(data_open(&data, &conn, MODE_WRITE, most + 1));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, error);
	assert_int_equal(count, 0);
	data_close(&data);
}

/* Device and port are asked before anything is registered. */
TEST(too_much)
{
	reset();
	assert_too_much(MOST_BYTES, "error: -b 5001: the device registers at "
				    "most 5000 bytes at a time; give both "
				    "ends -b 5000 or less");
	reset();
	port_takes = 4000;
	assert_too_much(4000, "error: -b 4001: the device writes or reads at "
			      "most 4000 bytes at a time; give both ends -b "
			      "4000 or less");
}
