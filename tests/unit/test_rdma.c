/*
 * test_rdma.c - an RDMA operation, and the memory that it takes
 */
#include "data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_memory.h"

#if __has_include("pieces.h")
#include "pieces.h"
#else
#define SET_MAX_MESSAGE(bytes)
#endif

#define SIZE 1024

/* Posts op on memory of the peer's that has length bytes. */
static int post_rdma(enum ibv_wr_opcode op, uint32_t length)
{
	const struct remote peer = { 0x10000, 0x77, length };
	int ret;

	capture_start();
	ret = data_post_rdma(&data, op, &peer);
	capture_stop(&said);
	return ret;
}

/* It must fit into what the peer has offered, and goes nowhere else. */
static void test_fits(void **state)
{
	static const enum ibv_wr_opcode ops[] = { IBV_WR_RDMA_WRITE,
						  IBV_WR_RDMA_READ };

	(void)state;
	reset();
	assert_int_equal(data_open(&data, &conn, MODE_READ, SIZE), 0);
	SET_MAX_MESSAGE(SIZE);
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

#ifdef PIECES_H
/* What the port does not take at once goes in pieces, each at its place. */
static void test_pieces(void **state)
{
	static const size_t at[] = { 0, 400, 800, 0 };
	static const uint32_t bytes[] = { 400, 400, 224, 400 };

	(void)state;
	reset();
	assert_int_equal(data_open(&data, &conn, MODE_WRITE, SIZE), 0);
	conn.max_message = 400;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(data.next, at[i]);
		assert_int_equal(post_rdma(IBV_WR_RDMA_WRITE, SIZE), 0);
		assert_true(sge.addr == (uintptr_t)data.local.buf + at[i]);
		assert_int_equal(sge.length, bytes[i]);
		assert_true(sent.wr.rdma.remote_addr == 0x10000 + at[i]);
		assert_true(sent.wr_id == (uintptr_t)data.local.buf);
	}
	forget();
	data_close(&data);
}

/* Inline where the device takes so much, and always with a completion. */
static void test_inline(void **state)
{
	static const struct {
		uint32_t most;
		unsigned int flags;
	} devices[] = {
		{ 0, IBV_SEND_SIGNALED },
		{ MSG_SIZE - 1, IBV_SEND_SIGNALED },
		{ MSG_SIZE, IBV_SEND_SIGNALED | IBV_SEND_INLINE },
	};
	const struct msg msg = { .type = MSG_DONE };

	(void)state;
	reset();
	assert_int_equal(data_open(&data, &conn, MODE_WRITE, SIZE), 0);
	for (int i = 0; i < 3; i++) {
		conn.max_inline = devices[i].most;
		assert_int_equal(data_post_send(&data, SLOT_SEND_DONE, &msg),
				 0);
		assert_int_equal(sent.send_flags, devices[i].flags);
		assert_int_equal(sge.length, MSG_SIZE);
	}
	forget();
	data_close(&data);
}
#endif

/* The device is asked before anything is registered. */
static void test_too_much(void **state)
{
	int ret;

	(void)state;
	reset();
	assert_int_equal(data_open(&data, &conn, MODE_WRITE, MOST_BYTES), 0);
	data_close(&data);
	reset();
	capture_start();
	ret = data_open(&data, &conn, MODE_WRITE, MOST_BYTES + 1);
	capture_stop(&said);
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "error: -b 5001: the device registers at "
				  "most 5000 bytes at a time");
	assert_int_equal(count, 0);
	data_close(&data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits),
#ifdef PIECES_H
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_inline),
#endif
		cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
