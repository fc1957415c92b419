/*
 * test_07_flow.c - credits: nobody is overrun, and nobody waits for ever
 */
#include "flow.h"

#include <stdlib.h>

#include "test.h"

/* Two sides, and the messages that are under way from each to the other. */
static struct side {
	struct flow flow;
	unsigned int receives; /* that are posted */
	unsigned int under_way[4096]; /* credits in each message to this side */
	unsigned int first, last;
	unsigned int data; /* messages that it still has to send */
} sides[2];

static void put(struct side *to, unsigned int credits)
{
	to->under_way[to->last++ % 4096] = credits;
}

static int returned(struct side *side, unsigned int credits)
{
	return CAPTURED(flow_returned(&side->flow, credits));
}

/* The next message arrives: there must be a receive for it. */
static void arrive(struct side *side)
{
	assert_true(side->receives > 0);
	side->receives--;
	assert_int_equal(flow_returned(&side->flow,
				       side->under_way[side->first++ % 4096]),
			 0);
	side->receives++;
	flow_posted(&side->flow, 1);
}

/* Whatever side can do, it may do, in whatever order. */
static int step(struct side *side, struct side *other)
{
	if (rand() % 3 == 0 && side->first != side->last) {
		arrive(side);
		return 1;
	}
	if (flow_must_return(&side->flow)) {
		put(other, flow_send(&side->flow));
		return 1;
	}
	if (side->data && flow_may_send(&side->flow)) {
		side->data--;
		if (rand() % 2) {
			flow_send_bare(&side->flow);
			put(other, 0);
		} else {
			put(other, flow_send(&side->flow));
		}
		return 1;
	}
	if (side->first == side->last)
		return 0;
	arrive(side);
	return 1;
}

/* Until both have sent all: each step, somebody can do something. */
static void play(unsigned int depth, unsigned int mine, unsigned int yours)
{
	for (int i = 0; i < 2; i++) {
		sides[i] = (struct side){ .receives = depth };
		sides[i].flow = (struct flow){ .ours = depth,
					       .theirs = depth,
					       .may = depth };
	}
	sides[0].data = mine;
	sides[1].data = yours;
	while (sides[0].data || sides[1].data) {
		int first = rand() % 2;

		if (!step(&sides[first], &sides[!first]))
			assert_true(step(&sides[!first], &sides[first]));
	}
	/* And then there is quiet: credits are not returned for credits. */
	for (int quiet = 0, steps = 0; !quiet; steps++) {
		quiet = !step(&sides[0], &sides[1]) &&
			!step(&sides[1], &sides[0]);
		assert_true(steps < 100000);
	}
}

TEST(play)
{
	static const unsigned int depths[] = { FLOW_LEAST, 5, 7, 64, 1024 };

	srand(7);
	for (int i = 0; i < 5; i++)
		for (int n = 0; n < 50; n++) {
			play(depths[i], 3000, 0);
			play(depths[i], 3000, 3000);
			play(depths[i], 10, 3000);
		}
}

/* The last credit is for what returns credits. */
TEST(last)
{
	struct flow flow = { .ours = 4, .theirs = 4, .may = 4 };

	for (int i = 0; i < 3; i++) {
		assert_true(flow_may_send(&flow));
		flow_send_bare(&flow);
	}
	assert_false(flow_may_send(&flow));
	assert_false(flow_must_return(&flow));
	flow_posted(&flow, 1);
	assert_false(flow_must_return(&flow));
	flow_posted(&flow, 1);
	assert_true(flow_must_return(&flow));
	assert_int_equal(flow_send(&flow), 2);
	assert_int_equal(flow.may, 0);
	/* Not even that goes without one. */
	flow_posted(&flow, 1);
	flow_posted(&flow, 1);
	assert_false(flow_must_return(&flow));
}

TEST(too_many)
{
	struct side side = { .flow = { .ours = 4, .theirs = 4, .may = 4 } };

	flow_send_bare(&side.flow);
	assert_int_equal(returned(&side, 2), -1);
	assert_one_line(said.err, "returns 2 credits, and has 1 of 4");
	assert_int_equal(returned(&side, 1), 0);
	assert_int_equal(returned(&side, 65535), -1);
}
