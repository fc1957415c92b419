/*
 * test_07_pump_pending.c - what the benchmark leaves to be waited for
 *
 * The loop itself is tested in test_pump.c. Here, requests that will still
 * report are counted, for the drain at the end.
 */
#include "pump_device.h"

/* Runs until it fails; returns how many completions are still to come. */
static unsigned int left(unsigned int without)
{
	unsigned int n = 0;

	conn.pending = 0;
	pump.without = without;
	assert_int_equal(run(64, 1000, NULL), -1);
	for (unsigned int i = fake.taken; i < fake.posted; i++)
		n += !!fake.queue[i % MAX].wr_id;
	return n;
}

/* What the device has refused, and what was chained behind it, never reports. */
TEST(refused_post)
{
	static const unsigned int withouts[] = {
		0,
		WITHOUT_SELECTIVE,
		WITHOUT_CHAINS,
		WITHOUT_SELECTIVE | WITHOUT_CHAINS,
	};

	unsigned int n;

	for (unsigned int at = 1; at <= 200; at += 7)
		for (int i = 0; i < 4; i++) {
			reset();
			fake.refuses_at = at;
			n = left(withouts[i]);
			assert_int_equal(conn.pending, n);
			assert_one_line(said.err, "error: ibv_post_send: ");
		}
}

TEST(message)
{
	reset();
	fake.message_at = 3;
	left(0);
	assert_one_line(said.err, "error: protocol error: a message in the "
				  "middle of a benchmark");
}

AROUND_ALL(open_peer, close_peer)
