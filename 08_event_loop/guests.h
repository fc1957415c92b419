/*
 * guests.h - whom a completion belongs to, and what it means there
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
	struct receive *first,
		*last; /* requests that wait for room to answer */
	unsigned int waiting; /* how many they are */
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
	/* A request of ours in GUEST_ASKS is complete; the guest begins to leave. */
	int (*on_sent)(struct guests *guests, struct guest *guest);
	void (*on_leave)(struct guests *guests, struct guest *guest);
	struct list
		lists[GUEST_STATES]; /* who was last heard of first is first */
	struct table table;
	unsigned int arrived; /* how many there have been */
};

/* Answers to a guest that have yet to complete, at most; two requests each. */
#define GUESTS_WINDOW 4
#define GUESTS_SENDS (2 * GUESTS_WINDOW + 1)

/*
 * Makes a guest of id, with a queue pair on the hub. Returns it, or NULL after
 * reporting why; then id is still the caller's.
 */
struct guest *guests_add(struct guests *guests, struct rdma_cm_id *id);

/* Sends MSG_MR first: the other end has established the connection. */
int guests_start(struct guests *guests, struct guest *guest);

/*
 * Ends the connection. The guest is freed when all that it has posted is complete,
 * and nothing that it has received is left in the CQ.
 */
void guests_leave(struct guests *guests, struct guest *guest);

/*
 * The peer has ended the connection: what it has sent before is dealt with first.
 * Returns 0, or -1 after reporting why all are lost.
 */
int guests_left(struct guests *guests, struct guest *guest);

/* All of them. */
void guests_leave_all(struct guests *guests);

/*
 * Takes completions off the CQ, as many as one turn may, and has each guest do what
 * follows. Returns 0, or -1 after reporting why all are lost.
 */
int guests_poll(struct guests *guests);

/* To be called when the CQ was empty: frees those that have left. */
void guests_free_gone(struct guests *guests);

/* Frees all, in whatever state, and the table. */
void guests_free_all(struct guests *guests);

/* It was heard of just now: its time in its state begins again. */
void guests_heard(struct guests *guests, struct guest *guest);

/* To be called when the alarm is due: ends whoever is too late. Returns 0, -1. */
int guests_on_time(struct guests *guests);

#endif
