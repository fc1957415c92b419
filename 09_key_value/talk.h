/*
 * talk.h - messages between a server and a client, and waiting for what is posted
 *
 *     client                            server
 *     (connect as in 01_send_recv)
 *                          <--          MSG_PLACE: where the table is
 *     RDMA READ            -->          (no program has a part in it)
 *     fetch-and-add, compare-and-swap   (nor in these)
 *     MSG_PUT              -->          writes to its table
 *                          <--          MSG_ANSWER: it is there
 *     (disconnect)
 *
 * Functions return 0, or -1 after reporting why, unless it says otherwise.
 */
#ifndef TALK_H
#define TALK_H

#include "rdma.h"
#include "table.h"

enum {
	COUNTERS = 16
};

enum msg_type {
	MSG_PLACE = 1, /* has the next four fields */
	MSG_PUT = 2, /* length, key, value */
	MSG_ANSWER = 3 /* status, version */
};

/* A message, as it goes over the wire: big-endian, and without gaps. */
struct msg {
	uint8_t magic[4]; /* RDMA */
	uint8_t protocol; /* the version of this layout */
	uint8_t type;
	uint8_t status; /* 0: done; 1: the table is full */
	uint8_t reserved; /* 0 */
	uint64_t table, counters; /* addresses, which the rkeys open */
	uint32_t table_rkey, counters_rkey; /* counters: 0 if there are none */
	uint64_t version; /* of the bucket that has been written */
	uint32_t length; /* of the value */
	uint32_t reserved2; /* 0 */
	char key[KEY_SIZE];
	char value[VALUE_SIZE];
};

_Static_assert(sizeof(struct msg) == 328, "no gaps in struct msg");

/* One thing is done at a time. Set conn and may_leave, and zero the rest. */
struct talk {
	struct conn *conn; /* borrowed */
	struct region messages; /* two: one that comes, one that goes */
	uint32_t length; /* of what came */
	bool may_leave; /* the peer, while a message of its is waited for */
	bool received, done; /* what has completed, and was not yet used */
	const char *doing; /* what is posted, for errors */
};

enum {
	TALK_SENDS = 1,
	TALK_RECEIVES = 1,
	TALK_LEFT = 1 /* the peer has disconnected, as it may */
};

/* Makes room for messages, and posts the receive: before the connection. */
int talk_open(struct talk *t);
void talk_close(struct talk *t);

/* Sends a message of that type, and waits until the peer's device has it. */
int talk_send(struct talk *t, enum msg_type type, struct msg msg);

/*
 * Waits for a message, checks that it is one of type want, and copies it to msg.
 * Then the next one may come. Returns TALK_LEFT if the peer has left instead.
 */
int talk_receive(struct talk *t, enum msg_type want, struct msg *msg);

/* Posts wr, and waits until it is done. */
int talk_do(struct talk *t, struct ibv_send_wr *wr, const char *what);

#endif
