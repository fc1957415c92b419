/*
 * guests.h - how guests come, send, and go
 *
 * A guest is a client as the server sees it: a state machine without a thread. It
 * moves when a completion, an event of the CM or its deadline comes, and never waits.
 */
#ifndef GUESTS_H
#define GUESTS_H

#include <sys/queue.h>

#include "shared.h"

enum guest_state {
	GUEST_COMES, /* until it is connected */
	GUEST_SENDS, /* it may send */
	GUEST_TAKES, /* echoes are under way to it */
	GUEST_LEAVES, /* in the error state, until nothing of it is left */
	GUEST_STATES
};

/*
 * Echoes that are under way to a guest, at most. It may have seven messages without an
 * echo; and of seven echoes that it has, the acknowledgements may be lost.
 */
#define GUEST_WINDOW 14

struct guest {
	struct member member; /* first: shared_find() leads to the guest */
	TAILQ_ENTRY(guest) link; /* in the list of its state */
	struct shared *shared;
	struct rdma_cm_id *id; /* id->qp is the queue pair */
	enum guest_state state;
	int64_t deadline; /* of this state, in ms */
	bool late; /* that has passed; what it sent in time may be in the CQ */
	bool established; /* and not yet disconnected by us */
	bool has_left; /* it disconnected first */
	unsigned int number;
	unsigned int echoes; /* sends that are not complete yet */
	unsigned long count; /* of its messages */
};

/* Set loop and timeouts, and zero the rest before guests_open(). */
struct guests {
	struct loop *loop;
	int timeouts[GUEST_STATES]; /* how long one may be in a state, in ms */
	struct shared *shared; /* of each device that one has come by */
	/* The one whose deadline is first is first. */
	TAILQ_HEAD(, guest) lists[GUEST_STATES];
	unsigned int count; /* how many there are */
	unsigned int arrived; /* how many there have been */
	bool more; /* some can go in the next turn */
};

void guests_open(struct guests *guests);

/* Frees all guests, whatever their state. */
void guests_close(struct guests *guests);

/*
 * Makes a guest of id, with a queue pair on shared. Returns it, or NULL after
 * reporting why; then id is still the caller's.
 */
struct guest *guests_add(struct guests *guests, struct shared *shared,
			 struct rdma_cm_id *id);

/* It is connected. */
void guests_welcome(struct guests *guests, struct guest *guest);

/*
 * Ends the connection. The guest is freed in a later turn: when all that was posted for
 * it is complete, and nothing that it has received is left in the CQ.
 */
void guests_leave(struct guests *guests, struct guest *guest);
void guests_leave_all(struct guests *guests);

/* Until when the loop may sleep, in ms; 0 if there is something to do already. */
int64_t guests_sleep(const struct guests *guests);

/*
 * A turn's share: takes completions off the CQs, returns messages, sends away who is
 * late, and frees those that have left. Returns 0, or -1 after reporting why all are lost.
 */
int guests_turn(struct guests *guests);

#endif
