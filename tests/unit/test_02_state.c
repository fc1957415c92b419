/*
 * test_02_state.c - the two state machines of a chapter: what comes of each event in each
 * state, and every order of events that two sides and a network can produce
 *
 * The table is what must come of an event; all others must be told, and change nothing.
 * A side's requests are MSG_MR in chapter 02, RDMA, and MSG_DONE.
 */
#include "state.h"

#include <stdbool.h>
#include <string.h>

#include "test.h"

#define STATES(send, recv, posted) \
	{                          \
		send, recv, posted \
	}
#define FIRST 1 /* the request that is RDMA */
#define POSTED(states) ((states)->mr_posted)
#define EVENTS (EV_DONE_RECEIVED + 1)
#define SENDS (SS_DONE_SENT + 1)
#define RECVS (RS_DONE_RECV + 1)

static const struct legal {
	enum event event;
	struct states from, to;
	enum action action;
} legal[] = {
#define LEGAL(event, send, recv, posted, to_send, to_recv, to_posted, action) \
	{                                                                     \
		EV_##event, STATES(SS_##send, RS_##recv, posted),             \
			STATES(SS_##to_send, RS_##to_recv, to_posted),        \
			ACT_##action                                          \
	}
	LEGAL(START, INIT, INIT, false, INIT, INIT, true, SEND_MR),
	LEGAL(START, INIT, INIT, true, INIT, INIT, true, NOTHING),
	LEGAL(MR_SENT, INIT, INIT, true, MR_SENT, INIT, true, NOTHING),
	LEGAL(MR_SENT, INIT, MR_RECV, true, MR_SENT, MR_RECV, true, START_RDMA),
	LEGAL(MR_SENT, INIT, DONE_RECV, true, MR_SENT, DONE_RECV, true,
	      START_RDMA),
	/* The peer's first: ours is the answer. */
	LEGAL(MR_RECEIVED, INIT, INIT, false, INIT, MR_RECV, true, SEND_MR),
	/* Ours first: no second one, complete or not. */
	LEGAL(MR_RECEIVED, INIT, INIT, true, INIT, MR_RECV, true, NOTHING),
	LEGAL(MR_RECEIVED, MR_SENT, INIT, true, MR_SENT, MR_RECV, true,
	      START_RDMA),
#define BEFORE MR_SENT
#define READY MR_RECV
	LEGAL(DONE_RECEIVED, MR_SENT, MR_RECV, true, MR_SENT, DONE_RECV, true,
	      NOTHING),
#define BOTH(...) LEGAL(__VA_ARGS__)
	BOTH(RDMA_DONE, BEFORE, READY, true, RDMA_SENT, READY, true, SEND_DONE),
	BOTH(RDMA_DONE, BEFORE, DONE_RECV, true, RDMA_SENT, DONE_RECV, true,
	     SEND_DONE),
	BOTH(DONE_RECEIVED, INIT, READY, true, INIT, DONE_RECV, true, NOTHING),
	BOTH(DONE_RECEIVED, RDMA_SENT, READY, true, RDMA_SENT, DONE_RECV, true,
	     NOTHING),
	BOTH(DONE_RECEIVED, DONE_SENT, READY, true, DONE_SENT, DONE_RECV, true,
	     FINISH),
	BOTH(DONE_SENT, RDMA_SENT, READY, true, DONE_SENT, READY, true,
	     NOTHING),
	BOTH(DONE_SENT, RDMA_SENT, DONE_RECV, true, DONE_SENT, DONE_RECV, true,
	     FINISH),
};

#define RULES (sizeof(legal) / sizeof(*legal))

/* How often each rule was needed, over all orders. */
static long happened[RULES];

static bool same(const struct states *one, const struct states *two)
{
	return one->send == two->send && one->recv == two->recv &&
	       POSTED(one) == POSTED(two);
}

static const struct legal *find(enum event event, const struct states *from)
{
	for (size_t i = 0; i < RULES; i++)
		if (legal[i].event == event && same(&legal[i].from, from))
			return &legal[i];
	return NULL;
}

static void check_step(enum event event, const struct states *from)
{
	const struct legal *want = find(event, from);
	struct states states = *from;
	int action;

	capture_start();
	action = state_step(&states, event);
	capture_stop(&said);
	assert_true(same(&states, want ? &want->to : from));
	assert_int_equal(action, want ? (int)want->action : -1);
	if (want) {
		assert_string_equal(said.err, "");
		return;
	}
	assert_one_line(said.err, "error: protocol error: the ");
	assert_one_line(said.err, " is not legal in SS_");
}

TEST(every_event_in_every_state)
{
	for (int i = 0; i < EVENTS * SENDS * RECVS * 2; i++) {
		struct states from = {
			.send = i / EVENTS % SENDS,
			.recv = i / EVENTS / SENDS % RECVS,
			.mr_posted = i / EVENTS / SENDS / RECVS,
		};

		/* What is complete was posted. */
		if (from.send == SS_INIT || POSTED(&from))
			check_step(i % EVENTS, &from);
	}
}

/* One side of a conversation: how many of its requests are posted, and so on. */
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
	if (action == ACT_FINISH) {
		assert_false(side->finished);
		assert_int_equal(side->completed, FIRST + 2);
		side->finished = true;
	} else if (action == ACT_SEND_DONE) {
		assert_int_equal(side->posted++, FIRST + 1);
	} else if (action == ACT_SEND_MR) {
		assert_int_equal(side->posted++, 0);
	} else if (action == ACT_START_RDMA) {
		assert_int_equal(side->posted++, FIRST);
		assert_int_not_equal(side->states.recv, RS_INIT);
	} else {
		assert_int_equal(action, ACT_NOTHING);
	}
}

/* The next request of side reaches the peer, which sees all but RDMA. */
static void arrive(struct side *side, struct side *peer)
{
	int request = side->arrived++;

	if (request > FIRST)
		happen(peer, EV_DONE_RECEIVED);
	if (request < FIRST)
		happen(peer, EV_MR_RECEIVED);
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

/* There is no rule that no order of events needs, but that a side begins twice. */
TEST(every_order)
{
	for (int first = 1; first <= 3; first++) {
		struct side sides[2] = { { .posted = 1 - FIRST },
					 { .posted = 1 - FIRST } };

		ends = 0;
		for (int i = 0; i < 2; i++)
			if (first & 1 << i)
				happen(&sides[i], EV_START);
		explore(sides);
		assert_true(ends > 50);
	}
	for (size_t i = 0; i < RULES; i++)
		assert_true(happened[i] > 0 || legal[i].action == ACT_NOTHING);
}
