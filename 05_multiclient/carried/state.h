/*
 * state.h - how far the conversation has come, and what to do next
 *
 * Each side keeps one state for what it has sent and one for what it has
 * received. What to do next depends on both, and the order in which the two
 * advance is not ours to choose.
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
	EV_RDMA_DONE, /* these two: a request of ours is complete */
	EV_DONE_SENT,
	EV_DONE_RECEIVED /* the peer's message is here */
};

/* What to do next. */
enum action {
	ACT_NOTHING,
	ACT_SEND_DONE,
	ACT_FINISH
};

/*
 * Zero it before the first event. What MSG_MR said in chapter 02, the exchange of
 * parameters has said before, so both sides begin with their write or read.
 */
struct states {
	enum send_state send;
	enum recv_state recv;
};

/*
 * Advances the states and returns what to do next; or -1 after reporting that
 * event is not legal in these states, which do not change then.
 */
int state_step(struct states *states, enum event event);

#endif
