/*
 * test_memory.c - what a device may do with which memory, and for how long
 */
#include "data.h"

#include "test.h"
#include "fake_memory.h"

/* The regions that there must be. */
struct wanted {
	int mode;
	int count;
	struct {
		size_t size;
		int access;
	} regions[3];
};

#include "memory.h"

#define WANTED (sizeof(wanted) / sizeof(*wanted))

static int open_captured(int mode)
{
	return CAPTURED(open_memory(&data, &conn, mode));
}

static void close_captured(void)
{
	CAPTURE(data_close(&data));
}

/* Which region of a mode is filled by reads of ours; most chapters have none. */
#ifndef FILLED_BY_READ
#define FILLED_BY_READ(mode, region) false
#endif

static void assert_access(bool iwarp)
{
	memory_device.transport_type =
		iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
	for (size_t i = 0; i < WANTED; i++) {
		reset();
		assert_int_equal(open_captured(wanted[i].mode), 0);
		assert_int_equal(count, wanted[i].count);
		for (int r = 0; r < count; r++) {
			int access = wanted[i].regions[r].access;

			if (iwarp && FILLED_BY_READ(wanted[i].mode, r))
				access |= IBV_ACCESS_REMOTE_WRITE;
			assert_int_equal(all[r].mr.length,
					 wanted[i].regions[r].size);
			assert_int_equal(all[r].access, access);
		}
		close_captured();
		assert_string_equal(said.err, "");
	}
	memory_device.transport_type = IBV_TRANSPORT_IB;
}

/* The least that will do, and not a right more. */
TEST(access)
{
	assert_access(false);
}

/* Over iWARP, what a read fills is open to the peer, and nothing else is. */
TEST(access_iwarp)
{
	assert_access(true);
}

/* What was in the memory before is nobody's to see. */
TEST(zeroed)
{
	reset();
	assert_int_equal(open_captured(wanted[0].mode), 0);
	for (int r = 0; r < count; r++)
		for (size_t i = 0; i < all[r].mr.length; i++)
			assert_int_equal(((char *)all[r].mr.addr)[i], 0);
	close_captured();
}

/* Before its memory is freed, and the last one first. */
TEST(close)
{
	reset();
	assert_int_equal(open_captured(wanted[0].mode), 0);
	close_captured();
	for (int r = 0; r < count; r++)
		assert_int_equal(all[r].gone, count - r);
	/* Once more is no harm. */
	close_captured();
	assert_int_equal(gone, count);
}

/* Half of it was made: that half is given back. */
TEST(refused)
{
	for (int n = 0; n < wanted[0].count; n++) {
		reset();
		refuses = n;
		assert_int_equal(open_captured(wanted[0].mode), -1);
		assert_one_line(said.err, "error: ibv_reg_mr: Cannot allocate");
		assert_one_line(said.err, "ulimit -l");
		close_captured();
		assert_string_equal(said.err, "");
		assert_int_equal(gone, n);
	}
}

/* What the device may still write to must not become somebody else's. */
TEST(not_taken_back)
{
	reset();
	assert_int_equal(open_captured(wanted[0].mode), 0);
	keeps = 1;
	close_captured();
	assert_one_line(said.err, "error: ibv_dereg_mr: Device or resource "
				  "busy; its memory is not freed");
	assert_int_equal(gone, count - 1);
	/* Had it been freed, a sanitizer would say so here. */
	free(all[1].mr.addr);
}
