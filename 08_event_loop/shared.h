/*
 * shared.h - what all clients of a device share: a protection domain, a CQ, an SRQ
 *
 * A queue pair that has a shared receive queue (SRQ) takes its receives from
 * there. Nobody knows beforehand which client will use up which receive.
 */
#ifndef SHARED_H
#define SHARED_H

#include <stdbool.h>

#include "loop.h"
#include "message.h"
#include "rdma.h"

/* One receive. What it brings is sent back from its memory, too. */
struct receive {
	struct ibv_mr *mr; /* of its chunk: covers all of this */
	unsigned long number; /* it was the first to be posted, the second... */
	bool returns; /* the echo is posted; else the receive is, or was */
	char came[MESSAGE_SIZE];
};

/* The most receives there are, and how many are added at a time. */
#define RECEIVES 4096
#define RECEIVES_CHUNK 256

/* A queue pair, which goes when nothing of it is left in the CQ. */
struct member {
	uint32_t qp_num;
	unsigned long marked, due; /* see shared_mark() */
	bool last; /* the device takes no more receives for it */
};

/* Zero it before shared_open(). */
struct shared {
	struct shared *next; /* of another device */
	struct loop *loop;
	struct ibv_context *verbs; /* the CM's */
	struct conn all; /* its pd, comp and cq are those of all clients */
	struct watch completions, events;
	void *members; /* a tree of them: tsearch(3) */

	struct ibv_srq *srq;
	struct region *chunks; /* the memory */
	unsigned int chunk_count;
	unsigned int count; /* of receives; it grows */
	unsigned int wanted; /* how many of them there should be */
	unsigned long posted, newest, back; /* numbers; see receive_take() */

	bool busy; /* the CQ may hold completions: do not sleep */
	unsigned long polls, empty; /* so far; the last that emptied the CQ */
	bool tells; /* the device says when a queue pair takes no more receives */
};

/*
 * Opens it on the device of verbs; loop watches it. Returns 0, or -1 after reporting
 * why. Either way, end with shared_close(), when no queue pair is left.
 */
int shared_open(struct shared *shared, struct loop *loop,
		struct ibv_context *verbs);
void shared_close(struct shared *shared);

/*
 * From the qp_num of a completion to whose it is, or NULL. Adding returns 0, or -1
 * after reporting why; what is not there may be removed.
 */
int shared_add(struct shared *shared, struct member *member, uint32_t qp_num);
struct member *shared_find(const struct shared *shared, uint32_t qp_num);
void shared_remove(struct shared *shared, const struct member *member);

/* Takes at most SHARED_POLL completions off the CQ. Returns how many, or -1. */
#define SHARED_POLL 8
int shared_poll(struct shared *shared, struct ibv_wc *wc);

/*
 * Whatever the member has in the CQ now is to be taken off: shared_is_drained()
 * says whether that is done, however much the others add meanwhile.
 */
void shared_mark(struct shared *shared, struct member *member);
bool shared_is_drained(const struct shared *shared,
		       const struct member *member);

/*
 * The device has used this one. If too many are missing, others take their place: a
 * device may forget one when its queue pair ends in the middle of a message.
 */
void receive_take(struct shared *shared, struct receive *receive);

/*
 * Posts it again: nobody needs what it has brought. If that fails, it is reported,
 * and the SRQ has one receive less.
 */
void receive_back(struct shared *shared, struct receive *receive);

#endif
