/*
 * receives.h - the receives that all clients share
 *
 * A queue pair that has a shared receive queue (SRQ) takes its receives from
 * there. Nobody knows beforehand which client will use up which receive.
 */
#ifndef RECEIVES_H
#define RECEIVES_H

#include "data.h"

/* One receive. What we send because of a message comes from its memory, too. */
struct receive {
	struct ibv_mr *mr; /* of its chunk: covers all of this */
	unsigned int users; /* who still need it; at 0 it is posted again */
	unsigned int length; /* of what came */
	unsigned long number; /* how many were posted before it, and it */
	/* What came; aligned, for wr_id, also where pointers have 4 bytes. */
	char bytes[MSG_SIZE + MSG_MAX_REQUEST] __attribute__((aligned(8)));
};

/* The most receives there are, and how many are added at a time. */
#define RECEIVES 4096
#define RECEIVES_CHUNK 256

/* Zero it before receives_open(). */
struct receives {
	struct ibv_srq *srq;
	struct region *chunks; /* the memory */
	unsigned int chunk_count;
	unsigned int count; /* of receives; it grows */
	unsigned int wanted; /* how many of them there should be */
	unsigned long posted, newest, back; /* numbers; see receives_take() */
};

/*
 * Creates the SRQ and posts the first receives. Returns 0, or -1 after reporting
 * why. Either way, end with receives_close(), when no queue pair has the SRQ.
 */
int receives_open(struct receives *receives, struct ibv_pd *pd);
void receives_close(struct receives *receives);

/*
 * The SRQ has few receives left (IBV_EVENT_SRQ_LIMIT_REACHED): posts more, and
 * asks to be told again. Returns 0, or -1 after reporting why.
 */
int receives_grow(struct receives *receives);

/*
 * The device has used this one. If too many are missing, others take their place:
 * a device may forget one when its queue pair ends in the middle of a message.
 */
void receives_take(struct receives *receives, struct receive *receive);

/*
 * The lowest bits of a wr_id: what was posted. The other bits are the
 * address of a struct receive, or of what data.c sends.
 */
enum work {
	WORK_GREETING, /* by data.c, as in 02_write_read */
	WORK_RECEIVE,
	WORK_WRITE, /* because of what it brought: a write into the client's memory, */
	WORK_ANSWER, /* and the answer */
	WORK_MASK = 7
};

_Static_assert(!((offsetof(struct receive, bytes) | MSG_SIZE) & WORK_MASK),
	       "the addresses in a wr_id end in enough 0s");

/* The receive that wr_id names, or the one that caused the request. */
struct receive *receives_find(uint64_t wr_id);

/*
 * Drops one user; the last one posts it again. If that fails, it is reported, and the
 * SRQ has one receive less.
 */
void receives_release(struct receives *receives, struct receive *receive);

#endif
