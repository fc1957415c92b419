/*
 * flow.c - credits: how many messages the peer has receives for
 */
#include "flow.h"

#include "log.h"

bool flow_may_send(const struct flow *flow)
{
	return flow->may > 1;
}

bool flow_must_return(const struct flow *flow)
{
	/*
	 * Half: the peer has the other half while this is on its way. And it
	 * must be more than one: this message takes a receive as well, for which
	 * the peer will owe us a credit, and so on without an end.
	 */
	return flow->owed >= flow->ours / 2 && flow->may > 0;
}

unsigned int flow_send(struct flow *flow)
{
	unsigned int credits = flow->owed;

	flow->may--;
	flow->owed = 0;
	return credits;
}

int flow_returned(struct flow *flow, unsigned int credits)
{
	if (credits > flow->theirs - flow->may)
		return log_fail(
			"protocol error: the peer returns %u credits, and has %u of %u outstanding",
			credits, flow->theirs - flow->may, flow->theirs);
	flow->may += credits;
	return 0;
}
