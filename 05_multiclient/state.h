/*
 * state.h - the two state machines of a transfer, and nothing else
 *
 * Each side keeps one machine for what it has sent and one for what it has
 * received. What happens next depends on both, and the order in which the
 * two move is not ours to choose.
 */
#ifndef STATE_H
#define STATE_H

enum send_state {
	SS_INIT, /* our write or read is under way */
	SS_RDMA_SENT, /* our write or read is complete */
	SS_DONE_SENT /* the peer has our MSG_DONE */
};

enum recv_state {
	RS_INIT, /* nothing has come yet */
	RS_DONE_RECV /* the peer is done with our memory */
};

/* What can happen. */
enum event {
	EV_RDMA_DONE, /* these two: our requests, completed */
	EV_DONE_SENT,
	EV_DONE_RECEIVED /* the peer's message */
};

/* What to do next. */
enum action {
	ACT_NOTHING,
	ACT_SEND_DONE,
	ACT_FINISH
};

/*
 * Zero it before the first event. The exchange of parameters has carried what
 * MSG_MR carried in the chapter before: so both sides begin with RDMA.
 */
struct states {
	enum send_state send;
	enum recv_state recv;
};

/*
 * Moves states as event demands and returns what to do next; or -1
 * if event is not legal in these states, which are unchanged then.
 */
int state_step(struct states *states, enum event event);

#endif
