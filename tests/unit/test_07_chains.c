/*
 * test_07_chains.c - files go in chains, and only what must be is signalled
 */
#include "two_files.h"

#include "test.h"
#define BYTES 64
#define PARTS 250

static const enum mode modes[] = { MODE_SEND, MODE_WRITE, MODE_READ };

/* Sends a file of so many parts and a bit; what was posted is in ends. */
static void sends(enum mode mode, unsigned int depth)
{
	int sent = 1, received = 1;

	assert_int_equal(make_file(0, "f", PARTS * BYTES + 7), 0);
	assert_int_equal(ends_open(mode, depth, BYTES), 0);
	transfer(1, &sent, &received);
	if (sent || received || sender.refused || stuck || not_ready ||
	    !arrived(0, "f"))
		fail_msg("%s, depth %u: %d %d, stuck %d:\n%s",
			 msg_mode_name(mode), depth, sent, received, stuck,
			 said.err);
	assert_int_equal(unlinkat(to_fd, "f", 0), 0);
	remove_files(1);
	/* Each part, and BEGIN, END and BYE. */
	assert_true(ends[0].requests >= PARTS + 1 + 3);
}

/* A quarter of the depth, and not more than there is room for. */
static unsigned int chain_of(unsigned int depth)
{
	return depth / 4 < REQUEST_CHAIN ? depth / 4 : REQUEST_CHAIN;
}

TEST(sender)
{
	static const unsigned int depths[] = { 4, 7, 8, 13, 32, 64, 256 };

	for (order = 0; order < ORDERS; order++)
		for (int m = 0; m < 3; m++)
			for (int d = 0; d < 7; d++) {
				sends(modes[m], depths[d]);
				assert_int_equal(ends[0].longest,
						 chain_of(depths[d]));
				assert_int_equal(ends[0].signalled,
						 ends[0].calls);
			}
}

/* At a depth of 64, four of five calls and completions are saved, at least. */
TEST(fewer)
{
	order = SENDER_FIRST;
	for (int m = 0; m < 3; m++) {
		sends(modes[m], 64);
		assert_true(ends[0].calls * 5 < ends[0].requests);
	}
}

/* READs go in chains too, but each says when its part is here. */
TEST(reader)
{
	order = SENDER_FIRST;
	sends(MODE_READ, 64);
	assert_int_equal(ends[1].longest, REQUEST_CHAIN);
	assert_true(ends[1].signalled > PARTS);
	assert_true(ends[1].calls * 5 < ends[1].requests);
}

AROUND_ALL(make_folders, remove_folders)
