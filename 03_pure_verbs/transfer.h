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
	SLOT_COUNT = SLOT_RECV + 1,
	/* One send is posted at a time, and a receive for each message. */
	TRANSFER_SENDS = 1,
	TRANSFER_RECEIVES = SLOT_COUNT - SLOT_RECV
};

struct transfer {
	/* Set these, and zero the rest. */
	struct conn *conn; /* borrowed */
	enum mode mode;
	size_t bytes; /* of memory; 0: 1024, and not a word about it */
	const char *who; /* "active/client" or "passive/server" */

	/*
	 * How far we are: of our two requests, the write or read and then
	 * MSG_DONE, so many are complete; and of the peer's messages, so many
	 * are here.
	 */
	int sent, received;
	struct region messages; /* SLOT_COUNT messages, for send and receive */
	struct region local; /* what our write sends, or our read fills */
	struct region exposed; /* what the peer may write to or read from */
};

/* What the peer must be allowed to do in mode, for conn_create_qp(). */
unsigned int transfer_access(enum mode mode);

/*
 * Makes the three regions, with the least access that mode needs, puts a text where
 * the peer will find it, and puts into conn->mine what the peer must know. Returns
 * 0, or -1 after reporting why. Either way, end with conn_end() and
 * transfer_close(), before conn_close().
 */
int transfer_open(struct transfer *t);
void transfer_close(struct transfer *t);

/*
 * Posts a receive for the message that the peer will send. A receive must be
 * there before its message, so do this before the connection is made.
 */
int transfer_post_receives(struct transfer *t);

/*
 * Writes or reads, and handles completions until both sides are done with the
 * other's memory.
 */
int transfer_run(struct transfer *t);

/* Prints the text that the peer wrote, or we read, and checks every byte. */
int transfer_check(const struct transfer *t);

#endif
