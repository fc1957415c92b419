/*
 * crowd.h - many connections to a server, in one thread
 */
#ifndef CROWD_H
#define CROWD_H

#include <sys/queue.h>

#include "rdma.h"

enum asker_state {
	ASKER_NEW, /* has not begun */
	ASKER_MAKING, /* until it is connected */
	ASKER_READY, /* may send */
	ASKER_ENDING, /* has said goodbye */
	ASKER_LEAVING, /* in the error state, until nothing is posted any more */
	ASKER_GONE
};

/* One connection. */
struct asker {
	uint32_t qp_num;
	enum asker_state state;
	struct rdma_cm_id *id;
	bool refused; /* the server did not want it */
	bool in_line;
	bool waits; /* it has sent: until the next two are done */
	unsigned int posted; /* sends that are not complete yet */
	bool answered; /* the echo is here */
	TAILQ_ENTRY(asker) link; /* in the line of those who want to send */
	unsigned int asked; /* messages so far */
	int64_t sent; /* when, in ns */
};

/* Set what is first, and zero the rest. */
struct crowd {
	unsigned int count, cycles, depth, bytes;
	unsigned int greedy; /* messages at once, and no receive; 0: as is due */
	struct patience patience;

	struct addrinfo *server;
	struct conn all; /* its events, pd, comp and cq are those of all */
	struct ibv_context *verbs; /* once the device is known */
	struct ibv_srq *srq; /* as many receives as messages may be under way */
	struct region came; /* for these */
	struct region data; /* what all of them send */
	struct asker *askers;
	void *by_number; /* a tree of them: tsearch(3) */

	unsigned int here; /* have begun, and are not gone */
	unsigned int making, ready, refused, failed; /* what became of them */
	unsigned int lost; /* were ready, and then left too early */
	unsigned int asking; /* do not have all their echoes yet */
	TAILQ_HEAD(, asker) line;
	unsigned int under_way; /* messages without an echo */
	unsigned int ending; /* goodbyes that are not answered */
	bool leaving; /* all of them, so that no signal is heard */
	uint32_t *took; /* until each echo came, in us */
	size_t times; /* how many these are */
	int64_t now, last; /* in ns: this turn; the last echo */
	int64_t due; /* in ms: something must have happened by then */
};

/* The time now, in ns. */
int64_t crowd_clock(void);

/* Something has happened: the server has time for the next thing. */
void crowd_progress(struct crowd *crowd);

/* From here on, lines are those of this one, or of none. */
void crowd_tell_of(const struct crowd *crowd, const struct asker *asker);

/* For the tree. */
int crowd_compare(const void *one, const void *other);

/* Posts the receive of this number again; asks for the next event of the CQ. */
int crowd_post_receive(struct crowd *crowd, uint64_t number);
int crowd_arm(struct crowd *crowd);

/* making.c: takes some events of the CM. Returns 0, or -1: all are lost. */
int crowd_on_cm(struct crowd *crowd);

/* making.c: begins to connect. */
void crowd_begin(struct crowd *crowd, struct asker *asker);

/* All that are ready begin to send. */
void crowd_ask(struct crowd *crowd);

/* Says goodbye. */
void crowd_end(struct crowd *crowd, struct asker *asker);

/* Leaves, whatever it is doing. */
void crowd_leave(struct crowd *crowd, struct asker *asker);

/* Frees one that has begun. */
void crowd_free(struct crowd *crowd, struct asker *asker);

/*
 * Sleeps until something happens or that time, in ms, has come, and handles some of
 * what has happened. Returns 0, or -1 after reporting why all are lost.
 */
int crowd_turn(struct crowd *crowd, int64_t until);

#endif
