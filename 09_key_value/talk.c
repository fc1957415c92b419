/*
 * talk.c - messages between a server and a client, and waiting for what is posted
 */
#include "talk.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "explain.h"
#include "log.h"

/* Raise it with every change to struct msg or struct bucket. */
#define PROTOCOL 3

static const uint8_t magic[4] = { 'R', 'D', 'M', 'A' };

static struct msg *incoming(const struct talk *t)
{
	return t->messages.buf;
}

static struct msg *outgoing(const struct talk *t)
{
	return incoming(t) + 1;
}

static int post_receive(struct talk *t)
{
	return conn_post_recv(t->conn, &t->messages, incoming(t),
			      sizeof(struct msg));
}

int talk_open(struct talk *t)
{
	if (region_open(&t->messages, t->conn, 2 * sizeof(struct msg),
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	return post_receive(t);
}

void talk_close(struct talk *t)
{
	region_close(&t->messages);
}

/* Waits until *flag, which a completion sets, or until the peer has left. */
static int wait_for(struct talk *t, bool *flag)
{
	struct ibv_wc wc;
	bool receive;

	while (!*flag) {
		if (conn_wait(t->conn, &wc))
			return -1;
		receive = wc.wr_id == (uintptr_t)incoming(t);
		/* It can have our message before we have its acknowledgement. */
		if (wc.status == IBV_WC_WR_FLUSH_ERR && t->may_leave &&
		    !t->conn->established)
			return TALK_LEFT;
		if (wc.status != IBV_WC_SUCCESS)
			return explain_completion(
				receive ? "receive" : t->doing, &wc);
		if (receive && wc.opcode != IBV_WC_RECV)
			return log_fail(
				"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
				wc.opcode);
		if (receive)
			t->length = wc.byte_len;
		*(receive ? &t->received : &t->done) = true;
	}
	*flag = false;
	return 0;
}

/* Posts wr, and waits until it is done. */
static int post(struct talk *t, struct ibv_send_wr *wr, const char *what)
{
	t->doing = what;
	return conn_post(t->conn, wr) ? -1 : wait_for(t, &t->done);
}

int talk_copy(struct talk *t, enum ibv_wr_opcode opcode, uint32_t length,
	      const struct lent *theirs, uint64_t offset)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)t->ours->buf + offset,
		.length = length,
		.lkey = t->ours->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = sge.addr,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.wr.rdma = {
			.remote_addr = theirs->addr + offset,
			.rkey = theirs->rkey,
		},
	};

	return post(t, &wr,
		    opcode == IBV_WR_RDMA_READ ? "RDMA READ" : "RDMA WRITE");
}

int talk_change(struct talk *t, enum ibv_wr_opcode opcode, uint64_t compare_add,
		uint64_t swap, const struct lent *theirs, uint64_t offset,
		uint64_t *before)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)t->ours->buf,
		.length = sizeof(*before),
		.lkey = t->ours->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = sge.addr,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.wr.atomic = {
			/* It must be a multiple of eight. */
			.remote_addr = theirs->addr + offset,
			.compare_add = compare_add,
			.swap = swap,
			.rkey = theirs->rkey,
		},
	};

	if (post(t, &wr, "atomic operation"))
		return -1;
	/* The two devices have seen to the order of its bytes. */
	memcpy(before, t->ours->buf, sizeof(*before));
	return 0;
}

static int swap(struct talk *t, const struct lock *lock,
		const struct lent *theirs, uint64_t old, uint64_t new,
		uint64_t *before)
{
	return talk_change(t, IBV_WR_ATOMIC_CMP_AND_SWP, old, new, theirs,
			   lock->at, before);
}

int talk_lock(struct talk *t, struct lock *lock, const struct lent *theirs,
	      uint32_t owner)
{
	int64_t deadline = wait_deadline(t->conn->patience.timeout_ms);
	int64_t lapses = 0;
	uint64_t seen = 0, old, before;

	lock->word = owner ? (uint64_t)owner << 32 | LEASE_MS << 16 |
				     (++t->locks & 0xffff) :
			     BUCKET_MOVED;
	do {
		/* Our lease begins before anybody can see it. */
		lock->end = wait_deadline(POST_MS);
		old = seen && wait_deadline(0) >= lapses ? seen : 0;
		if (swap(t, lock, theirs, old, lock->word, &before))
			return -1;
		if (before == old && old)
			log_line("client %" PRIu64 " has let its lease lapse",
				 old >> 32);
		if (before == old)
			return 0;
		if (before == BUCKET_MOVED)
			return TALK_MOVED;
		if (before != seen) {
			seen = before;
			lapses = wait_deadline(seen >> 16 & 0xffff);
		}
	} while (wait_deadline(0) < deadline);
	return log_fail(
		"client %" PRIu64
		" has locked this bucket and does not let it go; is -t longer than its lease",
		seen >> 32);
}

int talk_unlock(struct talk *t, const struct lock *lock,
		const struct lent *theirs)
{
	uint64_t before;

	if (swap(t, lock, theirs, lock->word, 0, &before))
		return -1;
	if (before == lock->word)
		return 0;
	return log_fail(
		"the lock has been taken from us, since this took too long: what was put may be lost");
}

int talk_send(struct talk *t, enum msg_type type, struct msg msg)
{
	struct msg *out = outgoing(t);
	struct ibv_sge sge = {
		.addr = (uintptr_t)out,
		.length = sizeof(*out),
		.lkey = t->messages.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)out,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	*out = msg;
	memcpy(out->magic, magic, sizeof(magic));
	out->protocol = PROTOCOL;
	out->type = type;
	return post(t, &wr, "send");
}

/* The fields that a message of this type has, and zeros. */
static struct msg fields(const struct msg *msg)
{
	struct msg only = { .protocol = PROTOCOL, .type = msg->type };

	memcpy(only.magic, magic, sizeof(magic));
	switch (msg->type) {
	case MSG_PLACE:
		only.table = msg->table;
		only.counters = msg->counters;
		only.table_rkey = msg->table_rkey;
		only.counters_rkey = msg->counters_rkey;
		only.length = msg->length;
		only.client = msg->client;
		break;
	case MSG_PUT:
		only.length = msg->length;
		memcpy(only.key, msg->key, sizeof(msg->key));
		memcpy(only.value, msg->value, sizeof(msg->value));
		break;
	case MSG_ANSWER:
		only.status = msg->status;
		only.version = msg->version;
		break;
	}
	return only;
}

static int check(const struct msg *msg, uint32_t length, enum msg_type want)
{
	struct msg only;

	if (length != sizeof(*msg))
		return log_fail("the peer's message has %" PRIu32
				" bytes, not %zu; is it another program",
				length, sizeof(*msg));
	if (msg->type != want && !(want == MSG_PUT && msg->type == MSG_MOVE))
		return log_fail(
			"protocol error: a message of type %d, where one of type %d is due",
			msg->type, want);
	only = fields(msg);
	if (memcmp(&only, msg, sizeof(only)))
		return log_fail(
			"the peer's message has a value where there must be another, or zero");
	if (msg->type == MSG_PUT &&
	    (!table_key_is_good(msg->key) || be32toh(msg->length) > VALUE_SIZE))
		return log_fail(
			"the peer's MSG_PUT has a key or a length that cannot be");
	return 0;
}

int talk_receive(struct talk *t, enum msg_type want, struct msg *msg)
{
	int ret = wait_for(t, &t->received);

	if (ret)
		return ret;
	/* Copy it, so that what is used is what was checked. */
	*msg = *incoming(t);
	if (check(msg, t->length, want))
		return -1;
	/* The peer's next message may come as soon as it has our answer. */
	return post_receive(t);
}

int talk_place(struct talk *t, struct place *place)
{
	struct msg msg;

	if (talk_receive(t, MSG_PLACE, &msg))
		return -1;
	*place = (struct place){
		.table = { be64toh(msg.table), be32toh(msg.table_rkey) },
		.counters = { be64toh(msg.counters),
			      be32toh(msg.counters_rkey) },
		.buckets = be32toh(msg.length),
		.client = be32toh(msg.client),
	};
	if (!place->buckets || place->buckets > BUCKETS_MAX)
		return log_fail("the server's table cannot have %" PRIu32
				" buckets",
				place->buckets);
	log_line("the server's table: addr=0x%" PRIx64 ", rkey=0x%" PRIx32,
		 place->table.addr, place->table.rkey);
	return 0;
}

/* From when this returns 0, nobody writes to that table any more. */
static int lock_all(struct talk *t, const struct place *place)
{
	for (uint32_t i = 0; i < place->buckets; i++) {
		struct lock lock = { .at = i * sizeof(struct bucket) };

		if (talk_lock(t, &lock, &place->table, 0) < 0)
			return -1;
	}
	return 0;
}

int talk_move(struct talk *t, struct place *place)
{
	uint32_t buckets = place->buckets;

	if (place->client && lock_all(t, place))
		return -1;
	if (talk_send(t, MSG_MOVE, (struct msg){ 0 }) || talk_place(t, place))
		return -1;
	return place->buckets > buckets ?
		       0 :
		       log_fail("the server's table has not grown");
}

/* Reads so many buckets of the server's table, from at on, to our copy. */
static int read_buckets(struct talk *t, const struct place *place, uint32_t at,
			uint32_t count)
{
	t->reads++;
	return talk_copy(t, IBV_WR_RDMA_READ, count * sizeof(struct bucket),
			 &place->table, at * sizeof(struct bucket));
}

/*
 * What counts in our copy of a bucket. Returns 0, or TALK_MOVED; or 1 if the copy is
 * not of one moment.
 */
static int take(struct talk *t, uint32_t at, struct entry *entry)
{
	const struct bucket *copy = (struct bucket *)t->ours->buf + at;
	const struct entry *whole = table_whole(copy);

	if (copy->lock == BUCKET_MOVED)
		return TALK_MOVED;
	if (whole)
		*entry = *whole;
	else
		t->torn++;
	return !whole;
}

int talk_read(struct talk *t, const struct place *place, uint32_t at,
	      struct entry *entry)
{
	int64_t end = wait_deadline(t->conn->patience.timeout_ms);
	int ret;

	do {
		if (read_buckets(t, place, at, 1))
			return -1;
		ret = take(t, at, entry);
		if (ret != 1)
			return ret;
	} while (wait_deadline(0) < end);
	return log_fail(
		"bucket %" PRIu32
		": no READ of it was of one moment; is it written all the time, or is the server another program",
		at);
}

int talk_read_all(struct talk *t, const struct place *place,
		  struct entry *entries)
{
	int ret = read_buckets(t, place, 0, place->buckets);

	for (uint32_t at = 0; !ret && at < place->buckets; at++) {
		ret = take(t, at, &entries[at]);
		if (ret == 1)
			ret = talk_read(t, place, at, &entries[at]);
	}
	return ret;
}
