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

/* One receive. What we send because of a message comes from its memory, too. */
struct receive {
	struct ibv_mr *mr; /* of its chunk: covers all of this */
	unsigned int users; /* who still need it; at 0 it is posted again */
	uint32_t length; /* of what came */
	unsigned long number; /* how many were posted before it, and it */
	struct request came;
};

/* The most receives there are, and how many are added at a time. */
#define RECEIVES 4096
#define RECEIVES_CHUNK 256

/*
 * The lowest bits of a wr_id: what was posted. The other bits are the address of
 * a struct receive, if there is one: what was posted because of its message.
 */
enum work {
	WORK_MR, /* of the transfer of 02_write_read: no receive */
	WORK_RDMA,
	WORK_DONE,
	WORK_RECEIVE,
	WORK_WRITE, /* into the client's memory, */
	WORK_ANSWER, /* and the answer */
	WORK_MASK = 7
};

/* A queue pair, which goes when nothing of it is left in the CQ. */
struct member {
	struct member *next; /* in the same bucket */
	uint32_t qp_num;
	unsigned long marked, due; /* see shared_mark() */
	bool last; /* the device takes no more receives for it */
};

/* Numbers are given out one after another, so their last bits differ. */
#define BUCKETS 4096

/* Zero it before shared_open(). */
struct shared {
	struct shared *next; /* of another device */
	struct loop *loop;
	struct ibv_context *verbs; /* the CM's */
	struct conn all; /* its pd, comp and cq are those of all clients */
	struct watch completions, events;
	struct region local; /* what is written to each client */
	struct member *members[BUCKETS];
	unsigned int member_count;

	struct ibv_srq *srq;
	struct region *chunks; /* the memory */
	unsigned int chunk_count;
	unsigned int count; /* of receives; it grows */
	unsigned int wanted; /* how many of them there should be */
	unsigned long posted, newest, back; /* numbers; see receive_take() */

	bool busy; /* the CQ may hold completions: do not sleep */
	unsigned long polls, empty; /* so far; the last that emptied the CQ */
	unsigned long due; /* by this poll, what was there at since is handled */
	int64_t since, served; /* all that came before served is handled */
	bool tells; /* the device says when a queue pair takes no more receives */
};

/*
 * Opens it on the device of verbs, with a CQ of so many entries; loop watches it. To
 * each client, bytes are written. Returns 0, or -1 after reporting why. Either
 * way, end with shared_close(), when no queue pair is left.
 */
int shared_open(struct shared *shared, struct loop *loop,
		struct ibv_context *verbs, unsigned int entries, size_t bytes);
void shared_close(struct shared *shared);

/* From the qp_num of a completion to whose it is, or NULL. */
void shared_add(struct shared *shared, struct member *member, uint32_t qp_num);
struct member *shared_find(const struct shared *shared, uint32_t qp_num);
void shared_remove(struct shared *shared, const struct member *member);

/* The most completions that one turn of the loop takes off a CQ, and one poll. */
#define SHARED_BUDGET 64
#define SHARED_POLL 8

/* Takes at most SHARED_POLL completions off the CQ. Returns how many, or -1. */
int shared_poll(struct shared *shared, struct ibv_wc *wc);

/*
 * Whatever the member has in the CQ now is to be taken off: shared_is_drained()
 * says whether that is done, however much the others add meanwhile.
 */
void shared_mark(struct shared *shared, struct member *member);
bool shared_is_drained(const struct shared *shared,
		       const struct member *member);

/* What a wr_id stands for, in words; and the receive in it, or NULL. */
const char *work_name(uint64_t wr_id);
struct receive *receive_of(uint64_t wr_id);

/*
 * The device has used this one. If too many are missing, others take their place:
 * a device may forget one when its queue pair ends in the middle of a message.
 */
void receive_take(struct shared *shared, struct receive *receive);

/*
 * Drops one user; the last one posts it again. If that fails, it is reported, and the
 * SRQ has one receive less.
 */
void receive_release(struct shared *shared, struct receive *receive);

#endif
