/*
 * test_03_state.c - the two state machines of chapters 03 to 05: see states.h
 */
#include "state.h"

#include <stdbool.h>

#include "test.h"

/* What must come of an event. */
static const struct legal {
	enum event event;
	struct states from, to;
	enum action action;
} legal[] = {
	{ EV_RDMA_DONE,
	  { SS_INIT, RS_INIT },
	  { SS_RDMA_SENT, RS_INIT },
	  ACT_SEND_DONE },
	{ EV_RDMA_DONE,
	  { SS_INIT, RS_DONE_RECV },
	  { SS_RDMA_SENT, RS_DONE_RECV },
	  ACT_SEND_DONE },
	{ EV_DONE_RECEIVED,
	  { SS_INIT, RS_INIT },
	  { SS_INIT, RS_DONE_RECV },
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED,
	  { SS_RDMA_SENT, RS_INIT },
	  { SS_RDMA_SENT, RS_DONE_RECV },
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED,
	  { SS_DONE_SENT, RS_INIT },
	  { SS_DONE_SENT, RS_DONE_RECV },
	  ACT_FINISH },
	{ EV_DONE_SENT,
	  { SS_RDMA_SENT, RS_INIT },
	  { SS_DONE_SENT, RS_INIT },
	  ACT_NOTHING },
	{ EV_DONE_SENT,
	  { SS_RDMA_SENT, RS_DONE_RECV },
	  { SS_DONE_SENT, RS_DONE_RECV },
	  ACT_FINISH },
};

static bool same(const struct states *one, const struct states *two)
{
	return one->send == two->send && one->recv == two->recv;
}

#include "states.h"

TEST(every_event_in_every_state)
{
	for (int i = 0; i < EVENTS * SENDS * RECVS; i++) {
		struct states from = {
			.send = i / EVENTS % SENDS,
			.recv = i / EVENTS / SENDS,
		};

		check_step(i % EVENTS, &from);
	}
}

TEST(names)
{
	check_illegal(EV_DONE_RECEIVED,
		      (struct states){ SS_RDMA_SENT, RS_DONE_RECV },
		      "error: protocol error: the peer's MSG_DONE is not legal "
		      "in SS_RDMA_SENT and RS_DONE_RECV\n");
	check_illegal(EV_RDMA_DONE, (struct states){ SS_DONE_SENT, RS_INIT },
		      "error: protocol error: the completion of our RDMA "
		      "operation is not legal in SS_DONE_SENT and RS_INIT\n");
}

/* A side's requests are RDMA and MSG_DONE. */
static void act(struct side *side, int action)
{
	if (action == ACT_SEND_DONE) {
		assert_int_equal(side->posted++, 1);
	} else if (action == ACT_FINISH) {
		assert_false(side->finished);
		assert_int_equal(side->completed, 2);
		side->finished = true;
	} else {
		assert_int_equal(action, ACT_NOTHING);
	}
}

/* The next request of side reaches the peer, which sees MSG_DONE only. */
static void arrive(struct side *side, struct side *peer)
{
	if (side->arrived++ == 1)
		happen(peer, EV_DONE_RECEIVED);
}

static void complete(struct side *side)
{
	happen(side, side->completed++ ? EV_DONE_SENT : EV_RDMA_DONE);
}

/* Both begin with RDMA; there is no rule that no order of events needs. */
TEST(every_order)
{
	const struct side sides[2] = { { .posted = 1 }, { .posted = 1 } };

	explore(sides);
	assert_true(ends > 50);
	for (size_t i = 0; i < LEGAL; i++)
		assert_true(happened[i] > 0);
}
