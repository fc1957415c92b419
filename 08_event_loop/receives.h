/*
 * receives.h - the receives that all clients share
 *
 * A queue pair that has a shared receive queue (SRQ) takes its receives from
 * there. Which client will use up which receive, nobody knows beforehand.
 */
#ifndef RECEIVES_H
#define RECEIVES_H

#include "data.h"

/* One receive, and what is needed until what came with it is dealt with. */
struct receive {
	struct ibv_mr *mr; /* of its chunk: covers all of this */
	unsigned int users; /* who still need it; at 0 it is posted again */
	unsigned int length; /* of what came */
	/* Aligned, so that the lowest bits are 0 where pointers have 4 bytes, too. */
	char messages[2 * MSG_SIZE] /* for what we send because of it */
		__attribute__((aligned(8)));
	char bytes[] __attribute__((aligned(8))); /* what came */
};

/* Zero it before receives_open(). */
struct receives {
	struct ibv_srq *srq;
	struct ibv_pd *pd; /* borrowed */
	struct region *chunks; /* the memory, which grows */
	unsigned int size; /* bytes of one message */
	unsigned int count, most; /* receives: now, and at most */
};

/*
 * Creates the SRQ, for messages of at most size bytes, and posts the first
 * receives; there may be most of them later. Returns 0, or -1 after reporting
 * why. Either way, end with receives_close(), when no queue pair has the SRQ.
 */
int receives_open(struct receives *receives, struct ibv_pd *pd, size_t size,
		  unsigned int most);
void receives_close(struct receives *receives);

/*
 * The SRQ has few receives left (IBV_EVENT_SRQ_LIMIT_REACHED): posts more, and
 * asks to be told again. Returns 0, or -1 after reporting why.
 */
int receives_grow(struct receives *receives);

/*
 * The lowest bits of a wr_id: what it is that was posted. The other bits are the
 * address of what a receive brought, or of what data.c sends.
 */
enum work {
	WORK_GREETING, /* by data.c, as in 02_write_read */
	WORK_RECEIVE,
	WORK_WRITE, /* because of what it brought: a write into the client's memory, */
	WORK_ANSWER, /* and the answer */
	WORK_MASK = 7
};

_Static_assert(!(offsetof(struct receive, messages) & WORK_MASK) &&
		       !(offsetof(struct receive, bytes) & WORK_MASK) &&
		       !(MSG_SIZE & WORK_MASK),
	       "a wr_id needs the lowest bits");

/* The receive of a wr_id, or that because of which it was posted. */
struct receive *receives_find(uint64_t wr_id);

/* One user less; the last one posts it again. Returns 0, or -1. */
int receives_release(struct receives *receives, struct receive *receive);

#endif
