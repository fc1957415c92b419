/*
 * test_07_lend.c - the memory that a benchmark lends
 */
#include "data.h"

#include "test.h"
#include "fake_memory.h"

#define SIZE 1024

/* For a benchmark's peer: to read and to write, and no more than asked for. */
TEST(lend)
{
	reset();
	assert_int_equal(data_open(&data, &conn, 0), 0);
	assert_int_equal(data_lend(&data, 100), 0);
	assert_int_equal(count, 2);
	assert_int_equal(all[1].mr.length, 100);
	assert_int_equal(all[1].access, IBV_ACCESS_LOCAL_WRITE |
						IBV_ACCESS_REMOTE_WRITE |
						IBV_ACCESS_REMOTE_READ);
	data_close(&data);
	assert_int_equal(gone, 2);
}

/* The device is asked before anything is registered. */
TEST(too_much)
{
	int ret;

	reset();
	assert_int_equal(data_open(&data, &conn, 0), 0);
	ret = CAPTURED(data_lend(&data, MOST_BYTES + 1));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "the device registers at most 5000 bytes");
	assert_int_equal(count, 1);
	data_close(&data);
}
