/*
 * test_05_held.c - memory regions are counted where they are made and destroyed
 */
#include "data.h"

#include "test.h"
#include "fake_memory.h"

static struct held held;

/* Opens it with this registration refused, or none. */
static int open_captured(int which)
{
	reset();
	refuses = which;
	conn.held = &held;
	return CAPTURED(data_open(&data, &conn, MODE_WRITE, 3000));
}

static void close_captured(void)
{
	CAPTURE(data_close(&data));
}

TEST(counted)
{
	assert_int_equal(open_captured(-1), 0);
	assert_int_equal(held.of[HELD_MR], 3);
	close_captured();
	assert_int_equal(held.of[HELD_MR], 0);
	/* Nothing is left to count a second time. */
	close_captured();
	assert_int_equal(held.of[HELD_MR], 0);
	assert_int_equal(held.of[HELD_PD], 0);
}

/* One that was not made does not count; those before it do. */
TEST(half)
{
	for (int which = 0; which < 3; which++) {
		assert_int_equal(open_captured(which), -1);
		assert_int_equal(held.of[HELD_MR], which);
		close_captured();
		assert_int_equal(held.of[HELD_MR], 0);
	}
}

/* One that the device does not give back is still held. */
TEST(kept)
{
	assert_int_equal(open_captured(-1), 0);
	keeps = 1;
	close_captured();
	assert_one_line(said.err, "ibv_dereg_mr");
	assert_int_equal(held.of[HELD_MR], 1);
	keeps = -1;
	close_captured();
	assert_int_equal(held.of[HELD_MR], 0);
}
