/*
 * state.c - the two state machines of a transfer, and nothing else
 */
#include "state.h"

#include <stddef.h>

/*
 * Everything that can happen, and what follows. An event in a state that has no
 * row here is a mistake of the peer's or of ours, and ends the
 * transfer: a machine that merely counted would go on with the wrong step.
 *
 * The peer may be ahead of what we have seen. Its MSG_DONE can be here before
 * the completion of our own MSG_MR, since an acknowledgement may be late, even
 * where nothing is lost: hence the rows that receive in every send state.
 */
static const struct rule {
	enum event event;
	enum send_state send;
	enum recv_state recv;
	enum send_state next_send;
	enum recv_state next_recv;
	enum action action;
} rules[] = {
	{ EV_START, SS_INIT, RS_INIT, SS_INIT, RS_INIT, ACT_SEND_MR },

	{ EV_MR_SENT, SS_INIT, RS_INIT, SS_MR_SENT, RS_INIT, ACT_NOTHING },
	{ EV_MR_SENT, SS_INIT, RS_MR_RECV, SS_MR_SENT, RS_MR_RECV,
	  ACT_START_RDMA },
	{ EV_MR_SENT, SS_INIT, RS_DONE_RECV, SS_MR_SENT, RS_DONE_RECV,
	  ACT_START_RDMA },

	/* Race 1: the peer's came first, so ours is the answer. */
	{ EV_MR_RECEIVED, SS_INIT, RS_INIT, SS_INIT, RS_MR_RECV, ACT_SEND_MR },
	/* Race 2: ours was first and has arrived, so we send nothing more. */
	{ EV_MR_RECEIVED, SS_MR_SENT, RS_INIT, SS_MR_SENT, RS_MR_RECV,
	  ACT_START_RDMA },

	{ EV_RDMA_DONE, SS_MR_SENT, RS_MR_RECV, SS_RDMA_SENT, RS_MR_RECV,
	  ACT_SEND_DONE },
	{ EV_RDMA_DONE, SS_MR_SENT, RS_DONE_RECV, SS_RDMA_SENT, RS_DONE_RECV,
	  ACT_SEND_DONE },

	{ EV_DONE_RECEIVED, SS_INIT, RS_MR_RECV, SS_INIT, RS_DONE_RECV,
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_MR_SENT, RS_MR_RECV, SS_MR_SENT, RS_DONE_RECV,
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_RDMA_SENT, RS_MR_RECV, SS_RDMA_SENT,
	  RS_DONE_RECV, ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_DONE_SENT, RS_MR_RECV, SS_DONE_SENT,
	  RS_DONE_RECV, ACT_FINISH },

	{ EV_DONE_SENT, SS_RDMA_SENT, RS_MR_RECV, SS_DONE_SENT, RS_MR_RECV,
	  ACT_NOTHING },
	{ EV_DONE_SENT, SS_RDMA_SENT, RS_DONE_RECV, SS_DONE_SENT, RS_DONE_RECV,
	  ACT_FINISH },
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

/* We must have posted MSG_MR before it can complete, and before a DONE. */
static bool needs_posted_mr(enum event event)
{
	return event == EV_MR_SENT || event == EV_DONE_RECEIVED;
}

int state_step(struct states *states, enum event event)
{
	const struct rule *rule = find_rule(states, event);
	enum action action;

	if (!rule || (needs_posted_mr(event) && !states->mr_posted))
		return -1;
	states->send = rule->next_send;
	states->recv = rule->next_recv;
	action = rule->action;
	if (action == ACT_SEND_MR) {
		/* Race 2 again: ours is posted but not yet complete. */
		if (states->mr_posted)
			action = ACT_NOTHING;
		states->mr_posted = true;
	}
	return action;
}
