/*
 * state.h - the two state machines of a transfer, and nothing else
 *
 * Each side keeps one machine for what it has sent and one for what it has
 * received. What happens next depends on both, and the order in which the
 * two move is not ours to choose.
 */
#ifndef STATE_H
#define STATE_H

#include <stdbool.h>

enum send_state {
	SS_INIT, /* nothing of ours has arrived yet */
	SS_MR_SENT, /* the peer has our MSG_MR */
	SS_RDMA_SENT, /* our write or read is complete */
	SS_DONE_SENT /* the peer has our MSG_DONE */
};

enum recv_state {
	RS_INIT, /* nothing has come yet */
	RS_MR_RECV, /* we have the peer's MSG_MR */
	RS_DONE_RECV /* the peer is done with our memory */
};

/* What can happen. */
enum event {
	EV_START, /* connected, and we send first */
	EV_MR_SENT, /* these three: our requests, completed */
	EV_RDMA_DONE,
	EV_DONE_SENT,
	EV_MR_RECEIVED, /* these two: the peer's messages */
	EV_DONE_RECEIVED
};

/* What to do next. */
enum action {
	ACT_NOTHING,
	ACT_SEND_MR,
	ACT_START_RDMA,
	ACT_SEND_DONE,
	ACT_FINISH
};

/* Zero it before the first event. */
struct states {
	enum send_state send;
	enum recv_state recv;
	bool mr_posted; /* MSG_MR is on its way: never post it twice */
};

/*
 * Moves states as event demands and returns what to do next; or -1
 * if event is not legal in these states, which are unchanged then.
 */
int state_step(struct states *states, enum event event);

#endif
