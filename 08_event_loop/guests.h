/*
 * guests.h - which guest a completion belongs to, and what it means there
 *
 * A guest is a client as the server sees it, or one of load's connections. It is a
 * state machine without a thread: it moves when a completion, an event of the CM
 * or its deadline comes, and never waits.
 */
#ifndef GUESTS_H
#define GUESTS_H

#include "conn.h"
#include "data.h"
#include "hub.h"
#include "list.h"
#include "transfer.h"

/* Answers that a guest has yet to take, at most: each is an answer and a write. */
#define GUESTS_WINDOW 7
#define GUESTS_SENDS (2 * GUESTS_WINDOW + 1)

enum guest_state {
	GUEST_GREETS, /* until the transfer of 02_write_read is finished */
	GUEST_ASKS, /* from then on: it may ask */
	GUEST_TAKES, /* answers are under way to it */
	GUEST_ENDS, /* its peer has left: until what came before that is handled */
	GUEST_LEAVES, /* in the error state, until nothing is posted any more */
	GUEST_STATES
};

struct guest {
	struct hub_qp on_hub;
	struct hub *hub;
	struct link link; /* in the list of its state */
	enum guest_state state;
	int64_t deadline;
	unsigned int number;
	struct conn conn; /* id, qp and pending; the rest is the hub's */
	struct data data;
	struct transfer transfer;
	struct receive *held; /* its memory is for the messages of transfer */
	unsigned int under_way; /* answers that have yet to complete */
	struct receive *waiting[GUESTS_WINDOW]; /* requests that wait for these */
	unsigned int waits;
	unsigned long count; /* requests */
};

/* Set loop, timeouts and calls; zero the rest. */
struct guests {
	struct hub *hubs; /* of each device that one has come by */
	struct loop *loop;
	bool quiet; /* tells no story */
	int timeouts[GUEST_STATES]; /* how long one may be in a state, in ms */
	/* The transfer is finished; a message is here, with one user: us. */
	int (*on_finish)(struct guests *guests, struct guest *guest);
	int (*on_message)(struct guests *guests, struct guest *guest,
			  struct receive *receive);
	/* A request of ours, or an answer, is complete; the guest begins to leave. */
	int (*on_sent)(struct guests *guests, struct guest *guest);
	void (*on_leave)(struct guests *guests, struct guest *guest);
	/* The one silent for longest is first. */
	struct list lists[GUEST_STATES];
	unsigned int count; /* how many there are */
	unsigned int arrived; /* how many there have been */
	bool more; /* some can go in the next turn */
};

/*
 * Makes a guest of id, with a queue pair on hub. Returns it, or NULL after reporting
 * why; then id is still the caller's.
 */
struct guest *guests_add(struct guests *guests, struct hub *hub,
			 struct rdma_cm_id *id);

/*
 * Ends the connection. The guest is freed in a later turn: when all that it has posted
 * is complete, and nothing that it has received is left in the CQ.
 */
void guests_leave(struct guests *guests, struct guest *guest);
void guests_leave_all(struct guests *guests);

/* The peer has ended the connection: what it sent before that is handled first. */
void guests_left(struct guests *guests, struct guest *guest);

/* Moves guest to the end of the list of state, with a new deadline. */
void guests_move(struct guests *guests, struct guest *guest,
		 enum guest_state state);

/* Its transfer is finished, and it may ask: its time is that for what is under way. */
void guests_settle(struct guests *guests, struct guest *guest);

/* The most guests that one turn ends, frees, or finds to be too late. */
#define GUESTS_BUDGET 16

/* Whether the next turn has something to do already, so that the loop must not sleep. */
bool guests_are_busy(const struct guests *guests);

/*
 * A turn's share: takes completions off the CQs, has each guest do what follows, and
 * frees those that have left. Returns 0, or -1 after reporting why all are lost.
 */
int guests_turn(struct guests *guests);

/* Frees all guests, whatever their state. */
void guests_free_all(struct guests *guests);

#endif
