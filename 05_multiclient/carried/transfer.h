/*
 * transfer.h - the conversation about memory, and what is written or read
 */
#ifndef TRANSFER_H
#define TRANSFER_H

#include "rdma.h"

/* Where each message is in the region of messages. */
enum slot {
	SLOT_SEND_DONE,
	SLOT_RECV,
	SLOT_COUNT,
	/* One send is posted at a time, and a receive for the peer's message. */
	TRANSFER_SENDS = 1,
	TRANSFER_RECEIVES = 1
};

struct transfer {
	/* Set these, and zero the rest. */
	struct conn *conn; /* borrowed */
	enum mode mode;
	size_t bytes; /* of memory; 0: 1024, and not a word about it */
	const char *who; /* "active/client" or "passive/server" */

	int sent; /* so many are complete: the write or read, then MSG_DONE */
	int received; /* 1: the peer's MSG_DONE is here */
	struct region messages; /* SLOT_COUNT messages, for send and receive */
	struct region local; /* what our write sends, or our read fills */
	struct region exposed; /* what the peer may write to or read from */
};

/* What the peer must be allowed to do in mode, for conn_create_qp(). */
unsigned int transfer_access(enum mode mode);

/*
 * Makes the three regions, with the least access that mode needs, puts a text where
 * the peer will find it, and what it must know into conn->mine. Returns 0, or -1 after
 * reporting why. Either way, end with conn_end() and transfer_close(), before conn_close().
 */
int transfer_open(struct transfer *t);
void transfer_close(struct transfer *t);

/* A receive must be there before its message: do it before the connection is made. */
int transfer_post_receives(struct transfer *t);

/* Writes or reads, until both sides are done with the other's memory. */
int transfer_run(struct transfer *t);

/* Prints the text that the peer wrote, or we read, and checks every byte. */
int transfer_check(const struct transfer *t);

#endif
