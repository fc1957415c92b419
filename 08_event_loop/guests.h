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
#include "table.h"
#include "transfer.h"

enum guest_state {
	GUEST_GREETS, /* until the transfer of 02_write_read is finished */
	GUEST_ASKS, /* from then on: requests and answers */
	GUEST_LEAVES, /* in the error state, until nothing is posted any more */
	GUEST_STATES
};

struct guest {
	struct table_entry entry; /* by the number of its queue pair */
	struct link link; /* in the list of its state */
	enum guest_state state;
	int64_t deadline;
	unsigned int number;
	struct conn conn; /* id, qp and pending; the rest is the hub's */
	struct data data;
	struct transfer transfer;
	struct receive *held; /* its memory is for the messages of transfer */
	unsigned int under_way; /* answers that have yet to complete */
	unsigned long count; /* requests */
};

/* Set hub, loop, local, timeouts and calls; zero the rest. */
struct guests {
	struct hub *hub;
	struct loop *loop;
	struct region local; /* what is written to each of them */
	bool quiet; /* tells no story */
	int timeouts[GUEST_STATES]; /* how long one may be in a state, in ms */
	/* The transfer is finished; a message is here, with one user: us. */
	int (*on_finish)(struct guests *guests, struct guest *guest);
	int (*on_message)(struct guests *guests, struct guest *guest,
			  struct receive *receive);
	/* A request of ours is complete; the guest begins to leave. Or NULL. */
	int (*on_sent)(struct guests *guests, struct guest *guest);
	void (*on_leave)(struct guests *guests, struct guest *guest);
	/* The one silent for longest is first. */
	struct list lists[GUEST_STATES];
	struct table table;
	unsigned int arrived; /* how many there have been */
};

/* Answers that a guest has yet to take, at most: each is an answer and a write. */
#define GUESTS_WINDOW 7
#define GUESTS_SENDS (2 * GUESTS_WINDOW + 1)

/*
 * Makes a guest of id, with a queue pair on the hub. Returns it, or NULL after
 * reporting why; then id is still the caller's.
 */
struct guest *guests_add(struct guests *guests, struct rdma_cm_id *id);

/*
 * Ends the connection. The guest is freed when all that it has posted is complete,
 * and nothing that it has received is left in the CQ.
 */
void guests_leave(struct guests *guests, struct guest *guest);
void guests_leave_all(struct guests *guests);

/*
 * The peer has ended the connection: what it sent before that is handled first.
 * Returns 0, or -1 after reporting why all are lost.
 */
int guests_left(struct guests *guests, struct guest *guest);

/* The most completions that one turn of the loop takes. */
#define GUESTS_BUDGET 64

/*
 * Takes completions off the CQ, and has each guest do what follows. If there may be
 * more, hub->busy stays true. Returns 0, or -1 after reporting why all are lost.
 */
int guests_poll(struct guests *guests);

/* To be called when the CQ was empty: frees those that have left. */
void guests_free_gone(struct guests *guests);

/* Frees all guests, whatever their state, and the table. */
void guests_free_all(struct guests *guests);

#endif
