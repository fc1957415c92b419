/*
 * transfer.h - the conversation about memory, and what is written or read
 */
#ifndef TRANSFER_H
#define TRANSFER_H

#include "rdma.h"
#include "state.h"

/* What a side does with the other's memory, in the order of the words for it. */
enum mode {
	MODE_WRITE = 1,
	MODE_READ = 2
};

/* Where each message is in the region of messages. */
enum slot {
	SLOT_SEND_MR,
	SLOT_SEND_DONE,
	SLOT_RECV,
	SLOT_COUNT = SLOT_RECV + 2,
	/* Room for a send of each message, and a receive of each. */
	TRANSFER_SENDS = SLOT_RECV,
	TRANSFER_RECEIVES = SLOT_COUNT - SLOT_RECV
};

/* Memory of the peer, as its MSG_MR describes it. */
struct remote {
	uint64_t addr;
	uint32_t rkey;
	uint32_t length; /* bytes */
};

struct transfer {
	/* Set these, and zero the rest. */
	struct conn *conn; /* borrowed */
	enum mode mode;
	size_t bytes; /* of memory; 0: 1024, and not a word about it */
	const char *who; /* "active/client" or "passive/server" */

	struct states states;
	struct region messages; /* SLOT_COUNT messages, for send and receive */
	struct region local; /* what our write sends, or our read fills */
	struct region exposed; /* what the peer may write to or read from */
	struct remote peer; /* once the peer's MSG_MR is here */
	enum mode peer_mode; /* what the peer says that it runs */
};

/*
 * Makes the three regions, with the least access that mode needs, and puts a
 * text where the peer will find it. Returns 0, or -1 after reporting why. Either
 * way, end with conn_end() and transfer_close(), before conn_close().
 */
int transfer_open(struct transfer *t);
void transfer_close(struct transfer *t);

/*
 * Posts a receive for each message that the peer will send. A receive must be
 * there before its message, so do this before the connection is made.
 */
int transfer_post_receives(struct transfer *t);

/* Sends our MSG_MR now, and not only as an answer to the peer's. */
int transfer_start(struct transfer *t);

/* Handles completions until both sides are done with the other's memory. */
int transfer_run(struct transfer *t);

/* Prints the text that the peer wrote, or we read, and checks every byte. */
int transfer_check(const struct transfer *t);

#endif
