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
#define PROTOCOL 1

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
		if (wc.status == IBV_WC_WR_FLUSH_ERR && t->may_leave &&
		    flag == &t->received && !t->conn->established)
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

int talk_do(struct talk *t, struct ibv_send_wr *wr, const char *what)
{
	t->doing = what;
	return conn_post(t->conn, wr) || wait_for(t, &t->done) ? -1 : 0;
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
	return talk_do(t, &wr, "send");
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
	if (msg->type != want)
		return log_fail(
			"protocol error: a message of type %d, where one of type %d is due",
			msg->type, want);
	only = fields(msg);
	if (memcmp(&only, msg, sizeof(only)))
		return log_fail(
			"the peer's message has a value where there must be another, or zero");
	if (want == MSG_PUT &&
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
