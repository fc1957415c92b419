/*
 * talk.h - messages between a server and a client, and waiting for what is posted
 *
 *     client                            server
 *     (connect as in 01_send_recv)
 *                          <--          MSG_PLACE: where the table is
 *     RDMA READ            -->          (no program has a part in it)
 *     fetch-and-add, compare-and-swap   (nor in these)
 *     RDMA WRITE           -->          (nor in this: only with --one-sided)
 *     MSG_PUT              -->          writes to its table (only without that)
 *                          <--          MSG_ANSWER: it is there
 *     READ: BUCKET_MOVED                (the table has moved, when it was full)
 *     MSG_MOVE             -->          takes the old table's rkey back
 *                          <--          MSG_PLACE: where the table is now
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
	MSG_PLACE = 1, /* has the next four fields, length and client */
	MSG_PUT = 2, /* length, key, value */
	MSG_ANSWER = 3, /* status, version */
	MSG_MOVE = 4 /* none: the client knows only the place of an old table */
};

/* A message, as it goes over the wire: big-endian, and without gaps. */
struct msg {
	uint8_t magic[4]; /* RDMA */
	uint8_t protocol; /* the version of this layout */
	uint8_t type;
	uint8_t status; /* 0: done; 1: the table is full; 2: only clients write */
	uint8_t reserved; /* 0 */
	uint64_t table, counters; /* addresses, which the rkeys open */
	uint32_t table_rkey, counters_rkey; /* counters: 0 if there are none */
	uint64_t version; /* of the bucket that has been written */
	uint32_t length; /* of the value; of the table, in buckets */
	uint32_t client; /* its number, if it may write; 0 if it may not */
	char key[KEY_SIZE];
	char value[VALUE_SIZE];
};

_Static_assert(sizeof(struct msg) == 328, "no gaps in struct msg");

/* Memory of the peer's that is lent to us. */
struct lent {
	uint64_t addr;
	uint32_t rkey;
};

/* Where the table is, and the counters; and who we are there. */
struct place {
	struct lent table, counters;
	uint32_t buckets; /* of the table */
	uint32_t client; /* our number, if we may write; or 0 */
};

enum {
	/* So long after another client has seen a lock it may take it over. */
	LEASE_MS = 4000,
	/* So long its owner posts. The rest is for what the device repeats. */
	POST_MS = 1000
};

/*
 * A lock in the peer's memory: 0, or whose it is (32 bits), its lease (16), and
 * which lock of that owner's it is (16). So a lock that one sees twice has not been
 * let go in between.
 */
struct lock {
	uint64_t at; /* where it is in what is lent: a multiple of eight */
	uint64_t word; /* what we have put there */
	int64_t end; /* of posting, for wait_deadline() */
};

/* One thing is done at a time. Set conn, ours, may_leave; zero the rest. */
struct talk {
	struct conn *conn; /* borrowed */
	struct region messages; /* two: one that comes, one that goes */
	const struct region *ours; /* client, borrowed: see below */
	unsigned int locks; /* that were asked for */
	unsigned int reads, torn; /* of buckets, and how many of them were */
	uint32_t length; /* of what came */
	bool may_leave; /* the peer, while we wait */
	bool received, done; /* what has completed, and was not yet used */
	const char *doing; /* what is posted, for errors */
};

enum {
	TALK_SENDS = 1,
	TALK_RECEIVES = 1,
	TALK_LEFT = 1, /* the peer has disconnected, as it may */
	TALK_MOVED = 2 /* there is another table, or is to be: talk_move() */
};

/* Makes room for messages, and posts the receive: before the connection. */
int talk_open(struct talk *t);
void talk_close(struct talk *t);

/*
 * Sends a message of that type, and waits until the peer's device has it. Returns
 * TALK_LEFT if the peer has left meanwhile.
 */
int talk_send(struct talk *t, enum msg_type type, struct msg msg);

/*
 * Waits for a message, checks that it is of type want (MSG_MOVE will do for MSG_PUT),
 * and copies it to msg. Returns TALK_LEFT if the peer has left instead.
 */
int talk_receive(struct talk *t, enum msg_type want, struct msg *msg);

/*
 * Copies length bytes, by IBV_WR_RDMA_READ to t->ours, or by IBV_WR_RDMA_WRITE
 * from it, offset behind the begin at both ends. Then all of them are there.
 */
int talk_copy(struct talk *t, enum ibv_wr_opcode opcode, uint32_t length,
	      const struct lent *theirs, uint64_t offset);

/* Changes eight bytes in one step. *before is what they were. Writes to t->ours. */
int talk_change(struct talk *t, enum ibv_wr_opcode opcode, uint64_t compare_add,
		uint64_t swap, const struct lent *theirs, uint64_t offset,
		uint64_t *before);

/*
 * Locks what is at lock->at, if need be from an owner whose lease has lapsed. From
 * then until lock->end we may post. Without an owner, which is 0, it is locked for
 * ever. Returns TALK_MOVED if it is that already.
 */
int talk_lock(struct talk *t, struct lock *lock, const struct lent *theirs,
	      uint32_t owner);

/* With success, nobody else has had the lock since we got it. */
int talk_unlock(struct talk *t, const struct lock *lock,
		const struct lent *theirs);

/*
 * Client: reads a bucket until our copy is of one moment; or all with one READ, and
 * again, alone, those that were just written. Both return 0, or TALK_MOVED.
 */
int talk_read(struct talk *t, const struct place *place, uint32_t at,
	      struct entry *entry);
int talk_read_all(struct talk *t, const struct place *place,
		  struct entry *entries);

/* Client: waits to be told where the table is. */
int talk_place(struct talk *t, struct place *place);

/*
 * Client: asks where the table is now. If we may write, all of the old one is locked
 * first, so that the server can move it if nobody else has asked for that.
 */
int talk_move(struct talk *t, struct place *place);

#endif
