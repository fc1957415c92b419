/*
 * crowd.h - many connections to a server, in one thread
 */
#ifndef CROWD_H
#define CROWD_H

#include "addr.h"
#include "guests.h"
#include "latency.h"
#include "options.h"

/* What one connection has asked. */
struct asker {
	struct guest *guest;
	struct link link; /* in the line of those who want to ask */
	int64_t sent; /* when, in ns */
	unsigned int parts; /* 2: the answer and our completion are missing */
	unsigned int asked; /* requests so far */
	bool in_line;
	bool ready; /* it was connected, and could ask */
	bool refused; /* the server did not want it */
	bool complete; /* it has all its answers */
	bool ending; /* it has said goodbye */
};

enum phase {
	PHASE_CONNECT, /* until all are connected, or have failed */
	PHASE_ASK, /* until all have all their answers */
	PHASE_HOLD, /* as long as -w says */
	PHASE_LEAVE, /* until all are gone */
	PHASE_DONE
};

/* Set options; zero the rest before crowd_open(). */
struct crowd {
	const struct options *options;
	enum phase phase;
	struct addrinfo *server;
	struct rdma_event_channel *events;
	struct watch cm;
	struct loop loop;
	struct hub hub;
	struct guests guests;
	struct region exposed, messages; /* of all, in a row */
	struct asker *askers; /* by guest->number - 1 */
	unsigned int started, making; /* connections: begun, but not yet made */
	struct rdma_cm_id **ids; /* of those that have no route yet */
	unsigned int ready, refused, failed; /* what became of them */
	unsigned int lost; /* were ready, and then left too early */
	unsigned int asking; /* do not have all their answers yet */
	struct list line; /* of those who want to ask */
	unsigned int under_way; /* requests without an answer */
	unsigned int farewells, ending; /* said so far, and not yet answered */
	struct latency latency;
	int64_t now; /* in ns; when this turn of the loop began */
	int64_t began, connected, answered; /* in ns; the phases */
	int64_t held_until, due; /* in ms */
};

/* Both return 0, or -1 after reporting why. Either way, end with crowd_close(). */
int crowd_open(struct crowd *crowd);
int crowd_run(struct crowd *crowd);
void crowd_close(struct crowd *crowd);

#endif
