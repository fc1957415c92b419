/*
 * test_03_state.c - the two state machines of chapters 03 to 05
 *
 * Twice: every event in every state, against a list of what is legal; and
 * every order of events that two sides and a network can produce, in which
 * each legal one must come.
 */
#include "state.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "story.h"

#define EVENTS (EV_DONE_RECEIVED + 1)
#define SENDS (SS_DONE_SENT + 1)
#define RECVS (RS_DONE_RECV + 1)
#define LEGAL (sizeof(legal) / sizeof(*legal))

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

/* How often each of them has happened, over all orders. */
static long happened[LEGAL];

static const struct legal *find(enum event event, const struct states *from)
{
	for (size_t i = 0; i < LEGAL; i++)
		if (legal[i].event == event &&
		    legal[i].from.send == from->send &&
		    legal[i].from.recv == from->recv)
			return &legal[i];
	return NULL;
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
		return;
	}
	assert_string_equal(said.err, "");
	assert_int_equal(action, want->action);
	assert_int_equal(states.send, want->to.send);
	assert_int_equal(states.recv, want->to.recv);
}

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
	struct states states = { .send = SS_RDMA_SENT, .recv = RS_DONE_RECV };

	assert_int_equal(step(&states, EV_DONE_RECEIVED), -1);
	assert_string_equal(said.err,
			    "error: protocol error: the peer's MSG_DONE is "
			    "not legal in SS_RDMA_SENT and RS_DONE_RECV\n");
	states = (struct states){ .send = SS_DONE_SENT, .recv = RS_INIT };
	assert_int_equal(step(&states, EV_RDMA_DONE), -1);
	assert_string_equal(said.err,
			    "error: protocol error: the completion of our "
			    "RDMA operation is not legal in SS_DONE_SENT and "
			    "RS_INIT\n");
}

/* One side of a conversation. Its requests are RDMA and MSG_DONE. */
struct side {
	struct states states;
	int posted, arrived, completed;
	bool finished;
};

static long ends;

static void happen(struct side *side, enum event event)
{
	const struct legal *rule = find(event, &side->states);
	int action = state_step(&side->states, event);

	assert_non_null(rule);
	happened[rule - legal]++;
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

/* Both begin with RDMA; there is no rule that no order of events needs. */
TEST(every_order)
{
	const struct side sides[2] = { { .posted = 1 }, { .posted = 1 } };

	explore(sides);
	assert_true(ends > 50);
	for (size_t i = 0; i < LEGAL; i++)
		assert_true(happened[i] > 0);
}
