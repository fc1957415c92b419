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
 * our own operation is complete, since an acknowledgement may be late, even
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
	{ EV_RDMA_DONE, SS_INIT, RS_INIT, SS_RDMA_SENT, RS_INIT,
	  ACT_SEND_DONE },
	{ EV_RDMA_DONE, SS_INIT, RS_DONE_RECV, SS_RDMA_SENT, RS_DONE_RECV,
	  ACT_SEND_DONE },

	{ EV_DONE_RECEIVED, SS_INIT, RS_INIT, SS_INIT, RS_DONE_RECV,
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_RDMA_SENT, RS_INIT, SS_RDMA_SENT, RS_DONE_RECV,
	  ACT_NOTHING },
	{ EV_DONE_RECEIVED, SS_DONE_SENT, RS_INIT, SS_DONE_SENT, RS_DONE_RECV,
	  ACT_FINISH },

	{ EV_DONE_SENT, SS_RDMA_SENT, RS_INIT, SS_DONE_SENT, RS_INIT,
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

int state_step(struct states *states, enum event event)
{
	const struct rule *rule = find_rule(states, event);

	if (!rule)
		return -1;
	states->send = rule->next_send;
	states->recv = rule->next_recv;
	return rule->action;
}
