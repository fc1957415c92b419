/*
 * test_02_state.c - the two state machines of chapter 02
 *
 * Twice: every event in every state, against a list of what is legal; and
 * every order of events that two sides and a network can produce.
 */
#include "state.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

#include "story.h"

#define EVENTS (EV_DONE_RECEIVED + 1)
#define SENDS (SS_DONE_SENT + 1)
#define RECVS (RS_DONE_RECV + 1)

/* What must come of an event; posted: whether MSG_MR had been posted. */
static const struct legal {
	enum event event;
	enum send_state send;
	enum recv_state recv;
	bool posted;
	enum send_state next_send;
	enum recv_state next_recv;
	enum action action;
} legal[] = {
	{ EV_START, SS_INIT, RS_INIT, false, SS_INIT, RS_INIT, ACT_SEND_MR },
	{ EV_START, SS_INIT, RS_INIT, true, SS_INIT, RS_INIT, ACT_NOTHING },
	{ EV_MR_SENT, SS_INIT, RS_INIT, true, SS_MR_SENT, RS_INIT,
	  ACT_NOTHING },
	{ EV_MR_SENT, SS_INIT, RS_MR_RECV, true, SS_MR_SENT, RS_MR_RECV,
	  ACT_START_RDMA },
	{ EV_MR_SENT, SS_INIT, RS_DONE_RECV, true, SS_MR_SENT, RS_DONE_RECV,
	  ACT_START_RDMA },
	/* The peer's first: ours is the answer. */
	{ EV_MR_RECEIVED, SS_INIT, RS_INIT, false, SS_INIT, RS_MR_RECV,
	  ACT_SEND_MR },
	/* Ours first: no second one, complete or not. */
	{ EV_MR_RECEIVED, SS_INIT, RS_INIT, true, SS_INIT, RS_MR_RECV,
	  ACT_NOTHING },
	{ EV_MR_RECEIVED, SS_MR_SENT, RS_INIT, true, SS_MR_SENT, RS_MR_RECV,
	  ACT_START_RDMA },
	{ EV_RDMA_DONE, SS_MR_SENT, RS_MR_RECV, true, SS_RDMA_SENT, RS_MR_RECV,
	  ACT_SEND_DONE },
	{ EV_RDMA_DONE, SS_MR_SENT, RS_DONE_RECV, true, SS_RDMA_SENT,
	  RS_DONE_RECV, ACT_SEND_DONE },
	{ EV_DONE_RECEIVED, SS_INIT, RS_MR_RECV, true, SS_INIT, RS_DONE_RECV,
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_MR_SENT, RS_MR_RECV, true, SS_MR_SENT,
	  RS_DONE_RECV, ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_RDMA_SENT, RS_MR_RECV, true, SS_RDMA_SENT,
	  RS_DONE_RECV, ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_DONE_SENT, RS_MR_RECV, true, SS_DONE_SENT,
	  RS_DONE_RECV, ACT_FINISH },
	{ EV_DONE_SENT, SS_RDMA_SENT, RS_MR_RECV, true, SS_DONE_SENT,
	  RS_MR_RECV, ACT_NOTHING },
	{ EV_DONE_SENT, SS_RDMA_SENT, RS_DONE_RECV, true, SS_DONE_SENT,
	  RS_DONE_RECV, ACT_FINISH },
};

static const struct legal *find(enum event event, const struct states *from)
{
	for (size_t i = 0; i < sizeof(legal) / sizeof(*legal); i++)
		if (legal[i].event == event && legal[i].send == from->send &&
		    legal[i].recv == from->recv &&
		    legal[i].posted == from->mr_posted)
			return &legal[i];
	return NULL;
}

/* After MSG_MR is complete, that it was never posted cannot be. */
static bool possible(const struct states *states)
{
	return states->send == SS_INIT || states->mr_posted;
}

static int step(struct states *states, enum event event)
{
	int action;

	capture_start();
	action = state_step(states, event);
	/* As transfer_event() does it. */
	if (action < 0)
		assert_int_equal(story_illegal(states, event), -1);
	capture_stop(&said);
	assert_string_equal(said.out, "");
	return action;
}

/* state_step() of event does what the list above says, from these states. */
static void check_step(enum event event, const struct states *from)
{
	const struct legal *want = find(event, from);
	struct states states = *from;
	int action = step(&states, event);

	if (!want) {
		assert_int_equal(action, -1);
		assert_one_line(said.err, "error: protocol error: the ");
		assert_one_line(said.err, " is not legal in SS_");
		assert_int_equal(states.send, from->send);
		assert_int_equal(states.recv, from->recv);
		assert_int_equal(states.mr_posted, from->mr_posted);
		return;
	}
	assert_string_equal(said.err, "");
	assert_int_equal(action, want->action);
	assert_int_equal(states.send, want->next_send);
	assert_int_equal(states.recv, want->next_recv);
	assert_int_equal(states.mr_posted,
			 from->mr_posted || action == ACT_SEND_MR);
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
	struct states states = { .send = SS_RDMA_SENT, .recv = RS_MR_RECV };

	assert_int_equal(step(&states, EV_MR_RECEIVED), -1);
	assert_string_equal(said.err,
			    "error: protocol error: the peer's MSG_MR is not "
			    "legal in SS_RDMA_SENT and RS_MR_RECV\n");
	states = (struct states){ .send = SS_INIT, .recv = RS_INIT };
	assert_int_equal(step(&states, EV_DONE_RECEIVED), -1);
	assert_string_equal(said.err,
			    "error: protocol error: the peer's MSG_DONE is "
			    "not legal in SS_INIT and RS_INIT\n");
}

/* One side of a conversation. Its requests are MSG_MR, RDMA, MSG_DONE. */
struct side {
	struct states states;
	int posted, arrived, completed;
	bool finished;
};

/* What happened on the way, over all orders. */
static long ends, answers, crossings, late_completions;

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

static void happen(struct side *side, enum event event)
{
	int action = state_step(&side->states, event);

	assert_int_not_equal(action, -1);
	if (event == EV_MR_RECEIVED) {
		answers += action == ACT_SEND_MR;
		crossings += action == ACT_NOTHING;
	}
	act(side, action);
}

/* The next request of side reaches the peer, which sees all but RDMA. */
static void arrive(struct side *side, struct side *peer)
{
	static const enum event seen[] = {
		[0] = EV_MR_RECEIVED, [2] = EV_DONE_RECEIVED
	};
	int request = side->arrived++;

	if (request == 1)
		return;
	late_completions += request == 2 && peer->states.send == SS_INIT;
	happen(peer, seen[request]);
}

static void complete(struct side *side)
{
	static const enum event events[] = { EV_MR_SENT, EV_RDMA_DONE,
					     EV_DONE_SENT };

	happen(side, events[side->completed++]);
}

/* Takes every way on from here, to its end. */
static void explore(const struct side from[2])
{
	bool stuck = true;

	for (int i = 0; i < 4; i++) {
		struct side sides[2] = { from[0], from[1] };
		struct side *side = &sides[i / 2], *peer = &sides[1 - i / 2];

		if (i % 2 == 0 && side->arrived < side->posted)
			arrive(side, peer);
		else if (i % 2 && side->completed < side->arrived)
			complete(side);
		else
			continue;
		stuck = false;
		explore(sides);
	}
	if (!stuck)
		return;
	assert_true(from[0].finished && from[1].finished);
	ends++;
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
