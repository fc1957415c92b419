/*
 * talk.h - what the two ends of a benchmark say to each other, apart from what is measured
 *
 * Each says two messages, which are headers of message.h and nothing else, and hears two;
 * the receives for these are posted before the connection is made.
 */
#ifndef TALK_H
#define TALK_H

#include "message.h"
#include "rdma.h"

/* Where each message is in the region. */
enum slot {
	SLOT_SEND_FIRST,
	SLOT_SEND_LAST,
	SLOT_RECV,
	SLOT_COUNT = 4,
	TALK_RECEIVES = SLOT_COUNT - SLOT_RECV
};

/* Set conn, and zero the rest. */
struct talk {
	struct conn *conn; /* borrowed */
	struct region messages; /* SLOT_COUNT of them, to be sent and received */
};

/*
 * Registers the messages and posts the receives. All here return 0, or -1 after reporting
 * why. Either way, end with talk_close(), after conn_end().
 */
int talk_open(struct talk *talk);
void talk_close(struct talk *talk);

/* Sends head from slot, which must not be touched until that is complete. */
int talk_send(struct talk *talk, enum slot slot, const struct head *head);

/* Lends: waits for the other end's first message, which must be HELLO. */
int talk_first(struct talk *talk, struct head *head);

/*
 * Waits until our send is complete and the peer's message of type is here,
 * in whatever order they come.
 */
int talk_await(struct talk *talk, enum head_type type, struct head *head);

/* One completion of these two: sets *sent or *received, with the message in *head. */
int talk_take(struct talk *talk, const struct ibv_wc *wc, enum head_type type,
	      struct head *head, bool *sent, bool *received);

#endif
