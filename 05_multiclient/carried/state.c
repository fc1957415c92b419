/*
 * state.c - how far the conversation has come, and what to do next
 */
#include "state.h"

#include <stddef.h>

#include "log.h"

/*
 * Everything that can happen: an event, the two states in which it is legal,
 * and what to do then. An event in states that have no row here is a mistake
 * of the peer's or of ours. A program that merely counted would go on with
 * the wrong step.
 *
 * The peer may be ahead of what we have seen. Its MSG_DONE can be here before
 * our own write or read is complete, because an acknowledgement may be late. So
 * there are rows that receive in every send state.
 */
static const struct rule {
	enum event event;
	enum send_state send;
	enum recv_state recv;
	enum action action;
} rules[] = {
	{ EV_RDMA_DONE, SS_INIT, RS_INIT, ACT_SEND_DONE },
	{ EV_RDMA_DONE, SS_INIT, RS_DONE_RECV, ACT_SEND_DONE },

	{ EV_DONE_RECEIVED, SS_INIT, RS_INIT, ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_RDMA_SENT, RS_INIT, ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_DONE_SENT, RS_INIT, ACT_FINISH },

	{ EV_DONE_SENT, SS_RDMA_SENT, RS_INIT, ACT_NOTHING },
	{ EV_DONE_SENT, SS_RDMA_SENT, RS_DONE_RECV, ACT_FINISH },
};

static const char *const send_names[] = { "SS_INIT", "SS_RDMA_SENT",
					  "SS_DONE_SENT" };
static const char *const recv_names[] = { "RS_INIT", "RS_DONE_RECV" };
static const char *const event_names[] = {
	"the completion of our RDMA operation",
	"the completion of our MSG_DONE",
	"the peer's MSG_DONE",
};

static const struct rule *find_rule(const struct states *states,
				    enum event event)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].event == event && rules[i].send == states->send &&
		    rules[i].recv == states->recv)
			return &rules[i];
	return NULL;
}

int state_step(struct states *states, enum event event)
{
	const struct rule *rule = find_rule(states, event);

	if (!rule)
		return log_fail("protocol error: %s is not legal in %s and %s",
				event_names[event], send_names[states->send],
				recv_names[states->recv]);
	/* Each of our completions, and the message, is one step. */
	if (event == EV_DONE_RECEIVED)
		states->recv++;
	else
		states->send++;
	return rule->action;
}
