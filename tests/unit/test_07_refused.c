/*
 * test_07_refused.c - a file is refused, or given up, at each moment that there is:
 * the connection stays as it was, and the next file arrives
 */
#include "two_files.h"

#include "test.h"
#define BYTES 256

static const unsigned int depths[] = { 4, 5 };

static const char *const order_names[ORDERS] = { "sender first",
						 "receiver first", "by turns" };

/* Files "a" of so many parts, which is stopped, and "b", which arrives. */
static void stops(enum mode mode, unsigned int depth, int parts, int full,
		  int shrinks, int changes)
{
	int sent = 1, received = 1;

	assert_int_equal(make_file(0, "a", parts * BYTES), 0);
	assert_int_equal(make_file(1, "b", 2 * BYTES + 1), 0);
	assert_int_equal(ends_open(mode, depth, BYTES), 0);
	full_at = full;
	shrinks_at = shrinks;
	changes_at = changes;
	transfer(2, &sent, &received);
	full_at = shrinks_at = changes_at = -1;
	if (sent || received || stuck || sender.refused != 1 || not_ready ||
	    !arrived(1, "b"))
		fail_msg("%s, depth %u, %s, %d parts, full at %d, shrinks at "
			 "%d, changes at %d: %d %d, stuck %d, refused %u:\n%s",
			 msg_mode_name(mode), depth, order_names[order], parts,
			 full, shrinks, changes, sent, received, stuck,
			 sender.refused, said.err);
	assert_int_equal(unlinkat(to_fd, "b", 0), 0);
	/* Nothing else is left. */
	assert_int_equal(unlinkat(to_fd, "a", 0), -1);
	remove_files(2);
}

static void each_moment(enum mode mode)
{
	for (order = 0; order < ORDERS; order++)
		for (unsigned int d = 0; d < 2; d++)
			for (int parts = 1; parts < (int)depths[d] * 2; parts++)
				for (int at = 0; at < parts; at++)
					stops(mode, depths[d], parts, at, -1,
					      -1);
}

/* The disk is full at each part of files of each number of parts. */
TEST(full_send)
{
	each_moment(MODE_SEND);
}

TEST(full_write)
{
	each_moment(MODE_WRITE);
}

TEST(full_read)
{
	each_moment(MODE_READ);
}

/* The file is given up by one side as it is refused by the other. */
TEST(both)
{
	static const enum mode modes[] = { MODE_SEND, MODE_WRITE, MODE_READ };

	for (order = 0; order < ORDERS; order++)
		for (int m = 0; m < 3; m++)
			for (int at = 0; at < 5; at++)
				for (int shrinks = 0; shrinks < 5; shrinks++)
					stops(modes[m], 4, 5, at, shrinks, -1);
}

/* It changes while it is sent; and, at each part, the disk is full as well. */
TEST(changes)
{
	static const enum mode modes[] = { MODE_SEND, MODE_WRITE, MODE_READ };

	for (order = 0; order < ORDERS; order++)
		for (int m = 0; m < 3; m++)
			for (int at = -1; at < 6; at++)
				stops(modes[m], 4, 6, at, -1, 5);
	stops(MODE_SEND, 4, 1, -1, -1, 0);
	stops(MODE_SEND, 4, 9, -1, -1, 3);
}

/* At its beginning, and at its end. */
TEST(edges)
{
	int sent = 1, received = 1;

	for (order = 0; order < ORDERS; order++) {
		assert_int_equal(make_file(0, ".a", 3 * BYTES), 0);
		assert_int_equal(make_file(1, "b", 9 * BYTES), 0);
		assert_int_equal(make_file(2, "c", BYTES), 0);
		assert_int_equal(ends_open(MODE_WRITE, 4, BYTES), 0);
		changes_part = 4;
		transfer(3, &sent, &received);
		assert_int_equal(sent, 0);
		assert_int_equal(received, 0);
		assert_int_equal(sender.refused, 2);
		assert_non_null(strstr(said.err, "a file of that name"));
		assert_non_null(strstr(said.err, "is not what was sent"));
		assert_true(arrived(2, "c"));
		assert_int_equal(unlinkat(to_fd, "c", 0), 0);
		remove_files(3);
	}
}

AROUND_ALL(make_folders, remove_folders)
