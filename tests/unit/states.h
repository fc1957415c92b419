/*
 * states.h - what is asked of the two state machines of a chapter
 *
 * Included below same() and the table `legal`: what must come of an event. All other
 * events must be told, and change nothing. And every order of events is gone through
 * that two sides and a network can produce, with act(), arrive() and complete() of the
 * test that includes this.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "story.h"

#define EVENTS (EV_DONE_RECEIVED + 1)
#define SENDS (SS_DONE_SENT + 1)
#define RECVS (RS_DONE_RECV + 1)
#define LEGAL (sizeof(legal) / sizeof(*legal))

/* How often each of them has happened, over all orders. */
static long happened[LEGAL];

static const struct legal *find(enum event event, const struct states *from)
{
	for (size_t i = 0; i < LEGAL; i++)
		if (legal[i].event == event && same(&legal[i].from, from))
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

/* state_step() of event does what the table says, from these states. */
static void check_step(enum event event, const struct states *from)
{
	const struct legal *want = find(event, from);
	struct states states = *from;
	int action = step(&states, event);

	if (!want) {
		assert_int_equal(action, -1);
		assert_one_line(said.err, "error: protocol error: the ");
		assert_one_line(said.err, " is not legal in SS_");
		assert_true(same(&states, from));
		return;
	}
	assert_string_equal(said.err, "");
	assert_int_equal(action, want->action);
	assert_true(same(&states, &want->to));
}

static void check_illegal(enum event event, struct states states,
			  const char *line)
{
	assert_int_equal(step(&states, event), -1);
	assert_string_equal(said.err, line);
}

/* One side of a conversation: how many of its requests are posted, and so on. */
struct side {
	struct states states;
	int posted, arrived, completed;
	bool finished;
};

static long ends;

/* What is to be done now, by side. */
static void act(struct side *side, int action);

static int happen(struct side *side, enum event event)
{
	const struct legal *rule = find(event, &side->states);
	int action = state_step(&side->states, event);

	assert_non_null(rule);
	happened[rule - legal]++;
	act(side, action);
	return action;
}

/* The next request of side reaches the peer. */
static void arrive(struct side *side, struct side *peer);

/* The next request of side is complete. */
static void complete(struct side *side);

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
