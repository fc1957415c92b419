/*
 * test_07_counts.c - a connection whose counters pass 2^32: the rings go on where
 * they were, whatever the depth
 */
#include "two_files.h"

#include "test.h"
#define BYTES 256

/* As after so many parts, and so many requests. */
static void begin_at(uint64_t count)
{
	for (int i = 0; i < 2; i++) {
		struct channel *channel = &ends[i].channel;

		channel->posted = channel->complete = count;
		channel->taken = channel->arrived = count;
		channel->requests.sends = channel->requests.sent = count;
		channel->flow.waits = count;
	}
}

static void passes(uint64_t count, enum mode mode, unsigned int depth)
{
	int sent = 1, received = 1;

	assert_int_equal(make_file(0, "f", 60 * BYTES + 7), 0);
	assert_int_equal(ends_open(mode, depth, BYTES), 0);
	begin_at(count);
	transfer(1, &sent, &received);
	if (sent || received || sender.refused || not_ready || !arrived(0, "f"))
		fail_msg("%s, depth %u, from %llu: %d %d, refused %u:\n%s",
			 msg_mode_name(mode), depth, (unsigned long long)count,
			 sent, received, sender.refused, said.err);
	assert_int_equal(unlinkat(to_fd, "f", 0), 0);
	remove_files(1);
}

/* 2^32 is no multiple of most depths; 2^31 is where a signed number ends. */
TEST(counts)
{
	static const enum mode modes[] = { MODE_SEND, MODE_WRITE, MODE_READ };
	static const unsigned int depths[] = { 4, 5, 7, 10, 12, 48 };
	static const uint64_t borders[] = { 0x10000, 0x80000000, 0x100000000,
					    0x200000000, UINT64_MAX };

	for (int b = 0; b < 5; b++)
		for (int m = 0; m < 3; m++)
			for (int d = 0; d < 6; d++)
				passes(borders[b] - (b == 4 ? 1000 : 20),
				       modes[m], depths[d]);
}

static int begin(void **state)
{
	order = BY_TURNS;
	return make_folders(state);
}

AROUND_ALL(begin, remove_folders)
