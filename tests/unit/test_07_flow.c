/*
 * test_07_flow.c - the last credits, which two ends that keep up with each other never need
 */
#include "flow.h"

#include "test.h"

/* The last credit is for what returns credits. */
TEST(last)
{
	struct flow flow = { .ours = 4, .theirs = 4, .may = 4 };

	for (int i = 0; i < 3; i++) {
		assert_true(flow_may_send(&flow));
		flow.may--;
	}
	assert_false(flow_may_send(&flow));
	assert_false(flow_must_return(&flow));
	flow.owed++;
	assert_false(flow_must_return(&flow));
	flow.owed++;
	assert_true(flow_must_return(&flow));
	assert_int_equal(flow_send(&flow), 2);
	assert_int_equal(flow.may, 0);
	/* Not even that goes without one. */
	flow.owed += 2;
	assert_false(flow_must_return(&flow));
}
