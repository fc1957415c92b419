/*
 * hello.c - what the two sides agree on before files go across
 */
#include "hello.h"

#include "log.h"
#include "log_wc.h"

int hello_take(struct data *data, const struct ibv_wc *wc, enum msg_type type,
	       struct msg *msg, bool *sent, bool *received)
{
	if (wc->status != IBV_WC_SUCCESS)
		return log_fail_wc(data_request_name(wc->wr_id), wc);
	if (!(wc->opcode & IBV_WC_RECV)) {
		*sent = true;
		return 0;
	}
	if (msg_decode(msg, data_message(data, request_number(wc->wr_id)),
		       wc->byte_len))
		return -1;
	if (msg->type == MSG_DONE && type == MSG_MR)
		return log_fail(
			"the server lends no memory for benchmarks: see its -h");
	if (msg->type != type)
		return log_fail("protocol error: message type %d instead of %d",
				msg->type, type);
	*received = true;
	return 0;
}

int hello_await(struct data *data, enum msg_type type, struct msg *msg)
{
	bool sent = false, received = false;
	struct ibv_wc wc;

	while (!sent || !received)
		if (data_wait(data, &wc) ||
		    hello_take(data, &wc, type, msg, &sent, &received))
			return -1;
	return 0;
}

int hello_first(struct data *data, struct msg *msg)
{
	struct ibv_wc wc;

	if (data_wait(data, &wc))
		return -1;
	if (wc.status != IBV_WC_SUCCESS)
		return log_fail_wc(data_request_name(wc.wr_id), &wc);
	if (msg_decode(msg, data_message(data, request_number(wc.wr_id)),
		       wc.byte_len))
		return -1;
	if (msg->type != MSG_FILES && msg->type != MSG_BENCH)
		return log_fail(
			"protocol error: message type %d at the beginning",
			msg->type);
	return 0;
}

/* Whether parts of these sizes are possible; the peer has announced them. */
static int check_shape(size_t depth, size_t bytes)
{
	if (depth >= FLOW_LEAST && depth <= CHANNEL_DEPTH_MAX &&
	    bytes >= HEAD_TEXT && depth * bytes <= MSG_MAX_LENGTH)
		return 0;
	return log_fail(
		"the peer wants %zu parts of %zu bytes; from %d to %d of at least %d are allowed, and %d bytes in all",
		depth, bytes, FLOW_LEAST, CHANNEL_DEPTH_MAX, HEAD_TEXT,
		MSG_MAX_LENGTH);
}

int hello_send(struct channel *channel)
{
	struct data *data = channel->data;
	struct msg done = { .type = MSG_DONE }, msg = {
		.type = MSG_FILES,
		.mode = channel->mode,
		.mem = { .length = channel->bytes },
		.depth = channel->depth,
	};

	if (data_post_send(data, SLOT_SEND_FIRST, &msg) ||
	    hello_await(data, MSG_MR, &msg))
		return -1;
	if (msg.mode != channel->mode || msg.mem.length % channel->bytes ||
	    msg.mem.length / channel->bytes > channel->depth)
		return log_fail(
			"protocol error: the server offers %u bytes for a %s",
			msg.mem.length, msg_mode_name(msg.mode));
	channel->ring = msg.mem;
	channel->depth = msg.mem.length / channel->bytes;
	if (check_shape(channel->depth, channel->bytes) ||
	    channel_open(channel) ||
	    data_post_send(data, SLOT_SEND_DONE, &done))
		return -1;
	return hello_await(data, MSG_DONE, &msg);
}

int hello_receive(struct channel *channel, const struct msg *first)
{
	struct data *data = channel->data;
	struct msg msg = { .type = MSG_MR, .mode = first->mode };

	channel->mode = first->mode;
	channel->bytes = first->mem.length;
	channel->receives = true;
	if (first->depth < channel->depth)
		channel->depth = first->depth;
	if (check_shape(channel->depth, channel->bytes) ||
	    channel_open(channel))
		return -1;
	msg.mem.length = channel->parts.size;
	if (channel->mode == MODE_WRITE) {
		msg.mem.addr = (uintptr_t)channel->parts.buf;
		msg.mem.rkey = channel->parts.mr->rkey;
	}
	if (data_post_send(data, SLOT_SEND_FIRST, &msg) ||
	    hello_await(data, MSG_DONE, &msg))
		return -1;
	msg = (struct msg){ .type = MSG_DONE };
	return data_post_send(data, SLOT_SEND_DONE, &msg);
}
