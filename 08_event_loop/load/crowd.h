/*
 * crowd.h - many connections to a server, in one thread
 */
#ifndef CROWD_H
#define CROWD_H

#include <sys/queue.h>

#include "latency.h"
#include "shared.h"

enum asker_state {
	ASKER_NEW, /* has not begun */
	ASKER_MAKING, /* until it has made the transfer of 02_write_read */
	ASKER_READY, /* may ask */
	ASKER_ENDING, /* has said goodbye */
	ASKER_LEAVING, /* in the error state, until nothing is posted any more */
	ASKER_GONE
};

/* One connection. */
struct asker {
	struct member member; /* first: shared_find() leads to the asker */
	enum asker_state state;
	struct rdma_cm_id *id;
	bool established;
	bool refused; /* the server did not want it */
	unsigned int pending; /* posted, and not yet complete */
	struct states states; /* of the transfer */
	struct remote peer;
	TAILQ_ENTRY(asker) link; /* in the line of those who want to ask */
	bool in_line;
	unsigned int asked; /* requests so far */
	unsigned int parts; /* 2: the answer and our completion are missing */
	int64_t sent; /* when, in ns */
	bool complete; /* it has all its answers */
};

/* Set what is first, and zero the rest. */
struct crowd {
	unsigned int count, cycles, depth, bytes;
	bool writes;
	int timeout_ms;

	struct loop loop;
	struct watch cm;
	struct addrinfo *server;
	struct rdma_event_channel *events;
	struct shared shared; /* once the device is known */
	struct region request; /* of all, and what they write */
	struct region exposed; /* of all, in a row */
	struct asker *askers;
	struct msg answer; /* the right one */

	unsigned int here; /* have begun, and are not gone */
	unsigned int making, ready, refused, failed; /* what became of them */
	unsigned int lost; /* were ready, and then left too early */
	unsigned int asking; /* do not have all their answers yet */
	TAILQ_HEAD(, asker) line;
	unsigned int under_way; /* requests without an answer */
	unsigned int ending; /* goodbyes that are not answered */
	struct latency latency;
	int64_t now, answered; /* in ns: this turn; the last answer */
	int64_t due; /* in ms: something must have happened by then */
};

/* making.c: begins to connect. */
void crowd_begin(struct crowd *crowd, struct asker *asker);

/* making.c: the CM's channel can be read. Returns 0, or -1: all are lost. */
int crowd_on_cm(void *crowd);

/* The machine of 02_write_read takes a step. Returns 0, or -1: it has to leave. */
int crowd_step(struct crowd *crowd, struct asker *asker, enum event event);

/* As lines have it: from 1 on. */
unsigned int crowd_number(const struct crowd *crowd, const struct asker *asker);

/* All that are ready begin to ask. */
void crowd_ask(struct crowd *crowd);

/* Says goodbye. */
void crowd_end(struct crowd *crowd, struct asker *asker);

/* Leaves, whatever it is doing. */
void crowd_leave(struct crowd *crowd, struct asker *asker);

/* Frees one that has begun. */
void crowd_free(struct crowd *crowd, struct asker *asker);

/* Takes some completions off the CQ. Returns 0, or -1: all are lost. */
int crowd_take(struct crowd *crowd);

#endif
