/*
 * test_02_state.c - the two state machines of chapter 02: see states.h
 */
#include "state.h"

#include "test.h"

/* What must come of an event. */
static const struct legal {
	enum event event;
	struct states from, to;
	enum action action;
} legal[] = {
	{ EV_START,
	  { SS_INIT, RS_INIT, false },
	  { SS_INIT, RS_INIT, true },
	  ACT_SEND_MR },
	{ EV_START,
	  { SS_INIT, RS_INIT, true },
	  { SS_INIT, RS_INIT, true },
	  ACT_NOTHING },
	{ EV_MR_SENT,
	  { SS_INIT, RS_INIT, true },
	  { SS_MR_SENT, RS_INIT, true },
	  ACT_NOTHING },
	{ EV_MR_SENT,
	  { SS_INIT, RS_MR_RECV, true },
	  { SS_MR_SENT, RS_MR_RECV, true },
	  ACT_START_RDMA },
	{ EV_MR_SENT,
	  { SS_INIT, RS_DONE_RECV, true },
	  { SS_MR_SENT, RS_DONE_RECV, true },
	  ACT_START_RDMA },
	/* The peer's first: ours is the answer. */
	{ EV_MR_RECEIVED,
	  { SS_INIT, RS_INIT, false },
	  { SS_INIT, RS_MR_RECV, true },
	  ACT_SEND_MR },
	/* Ours first: no second one, complete or not. */
	{ EV_MR_RECEIVED,
	  { SS_INIT, RS_INIT, true },
	  { SS_INIT, RS_MR_RECV, true },
	  ACT_NOTHING },
	{ EV_MR_RECEIVED,
	  { SS_MR_SENT, RS_INIT, true },
	  { SS_MR_SENT, RS_MR_RECV, true },
	  ACT_START_RDMA },
	{ EV_RDMA_DONE,
	  { SS_MR_SENT, RS_MR_RECV, true },
	  { SS_RDMA_SENT, RS_MR_RECV, true },
	  ACT_SEND_DONE },
	{ EV_RDMA_DONE,
	  { SS_MR_SENT, RS_DONE_RECV, true },
	  { SS_RDMA_SENT, RS_DONE_RECV, true },
	  ACT_SEND_DONE },
	{ EV_DONE_RECEIVED,
	  { SS_INIT, RS_MR_RECV, true },
	  { SS_INIT, RS_DONE_RECV, true },
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED,
	  { SS_MR_SENT, RS_MR_RECV, true },
	  { SS_MR_SENT, RS_DONE_RECV, true },
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED,
	  { SS_RDMA_SENT, RS_MR_RECV, true },
	  { SS_RDMA_SENT, RS_DONE_RECV, true },
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED,
	  { SS_DONE_SENT, RS_MR_RECV, true },
	  { SS_DONE_SENT, RS_DONE_RECV, true },
	  ACT_FINISH },
	{ EV_DONE_SENT,
	  { SS_RDMA_SENT, RS_MR_RECV, true },
	  { SS_DONE_SENT, RS_MR_RECV, true },
	  ACT_NOTHING },
	{ EV_DONE_SENT,
	  { SS_RDMA_SENT, RS_DONE_RECV, true },
	  { SS_DONE_SENT, RS_DONE_RECV, true },
	  ACT_FINISH },
};

static bool same(const struct states *one, const struct states *two)
{
	return one->send == two->send && one->recv == two->recv &&
	       one->mr_posted == two->mr_posted;
}

#include "states.h"

/* After MSG_MR is complete, that it was never posted cannot be. */
static bool possible(const struct states *states)
{
	return states->send == SS_INIT || states->mr_posted;
}

TEST(every_event_in_every_state)
{
	size_t checked = 0;

	for (int i = 0; i < EVENTS * SENDS * RECVS * 2; i++) {
		struct states from = {
			.send = i / EVENTS % SENDS,
			.recv = i / EVENTS / SENDS % RECVS,
			.mr_posted = i / EVENTS / SENDS / RECVS,
		};

		if (!possible(&from))
			continue;
		check_step(i % EVENTS, &from);
		checked++;
	}
	/* All states, and SS_INIT with and without MSG_MR on its way. */
	assert_int_equal(checked, EVENTS * (SENDS + 1) * RECVS);
}

TEST(names)
{
	check_illegal(EV_MR_RECEIVED,
		      (struct states){ SS_RDMA_SENT, RS_MR_RECV, false },
		      "error: protocol error: the peer's MSG_MR is not legal "
		      "in SS_RDMA_SENT and RS_MR_RECV\n");
	check_illegal(EV_DONE_RECEIVED, (struct states){ 0 },
		      "error: protocol error: the peer's MSG_DONE is not legal "
		      "in SS_INIT and RS_INIT\n");
}

/* What happened on the way, over all orders. */
static long answers, crossings, late_completions;

/* A side's requests are MSG_MR, RDMA, MSG_DONE. */
static void act(struct side *side, int action)
{
	switch (action) {
	case ACT_NOTHING:
		break;
	case ACT_SEND_MR:
		assert_int_equal(side->posted++, 0);
		break;
	case ACT_START_RDMA:
		assert_int_equal(side->posted++, 1);
		assert_int_not_equal(side->states.recv, RS_INIT);
		break;
	case ACT_SEND_DONE:
		assert_int_equal(side->posted++, 2);
		break;
	case ACT_FINISH:
		assert_false(side->finished);
		assert_int_equal(side->completed, 3);
		side->finished = true;
		break;
	default:
		fail_msg("action %d", action);
	}
}

/* The next request of side reaches the peer, which sees all but RDMA. */
static void arrive(struct side *side, struct side *peer)
{
	static const enum event seen[] = {
		[0] = EV_MR_RECEIVED, [2] = EV_DONE_RECEIVED
	};
	int request = side->arrived++, answer;

	if (request == 1)
		return;
	late_completions += request == 2 && peer->states.send == SS_INIT;
	answer = happen(peer, seen[request]);
	answers += request == 0 && answer == ACT_SEND_MR;
	crossings += request == 0 && answer == ACT_NOTHING;
}

static void complete(struct side *side)
{
	static const enum event events[] = { EV_MR_SENT, EV_RDMA_DONE,
					     EV_DONE_SENT };

	happen(side, events[side->completed++]);
}

TEST(every_order)
{
	for (int first = 1; first <= 3; first++) {
		struct side sides[2] = { 0 };

		ends = answers = crossings = late_completions = 0;
		for (int i = 0; i < 2; i++)
			if (first & 1 << i)
				happen(&sides[i], EV_START);
		explore(sides);
		assert_true(ends > 100);
		assert_true(late_completions > 0);
		assert_true(crossings > 0);
		/* Only a side that has not begun may answer. */
		assert_int_equal(answers > 0, first != 3);
	}
}
