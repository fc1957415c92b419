/*
 * guests.h - which guest a completion belongs to, and how guests come and go
 *
 * A guest is a client as the server sees it: a state machine without a thread. It
 * moves when a completion, an event of the CM or its deadline comes, and never waits.
 */
#ifndef GUESTS_H
#define GUESTS_H

#include <sys/queue.h>

#include "talk.h"

enum guest_state {
	GUEST_GREETS, /* until the transfer of 02_write_read is finished */
	GUEST_ASKS, /* from then on: it may ask */
	GUEST_TAKES, /* answers are under way to it */
	GUEST_ENDS, /* it has left: until what came before that is handled */
	GUEST_LEAVES, /* in the error state, until nothing is posted any more */
	GUEST_STATES
};

struct guest {
	struct member member; /* first: shared_find() leads to the guest */
	TAILQ_ENTRY(guest) link; /* in the list of its state */
	enum guest_state state;
	int64_t deadline; /* of this state, in ms */
	unsigned int number;
	bool established; /* and not yet disconnected by us */
	bool has_left; /* it disconnected first */
	struct talk talk;
};

/* Set loop, quiet and timeouts, and zero the rest before guests_open(). */
struct guests {
	struct loop *loop;
	bool quiet; /* tells no story */
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

/*
 * Ends the connection. The guest is freed in a later turn: when all that it has posted
 * is complete, and nothing that it has received is left in the CQ.
 */
void guests_leave(struct guests *guests, struct guest *guest);
void guests_leave_all(struct guests *guests);

/* The guest has ended the connection: what it sent before that is handled first. */
void guests_left(struct guests *guests, struct guest *guest);

/* Until when the loop may sleep, in ms; 0 if there is something to do already. */
int64_t guests_sleep(const struct guests *guests);

/*
 * A turn's share: takes completions off the CQs, has each guest do what follows, sends
 * away who is late, and frees those that have left. Returns 0, or -1 after reporting
 * why all are lost.
 */
int guests_turn(struct guests *guests);

#endif
