/*
 * hello.c - what the two sides agree on before files go across
 */
#include "hello.h"

#include <errno.h>

#include "explain.h"
#include "log.h"

/* Whether the device has queues as long as that. */
static int check_limits(struct ibv_context *verbs, unsigned int sends,
			unsigned int receives)
{
	struct ibv_device_attr attr;
	int err = ibv_query_device(verbs, &attr);

	if (err)
		return explain_call("ibv_query_device", err);
	if (sends <= (unsigned int)attr.max_qp_wr &&
	    receives <= (unsigned int)attr.max_qp_wr &&
	    sends + receives <= (unsigned int)attr.max_cqe)
		return 0;
	return log_fail(
		"-q is too much for the device: %u sends and %u receives, where a queue pair has at most %d, and a CQ %d",
		sends, receives, attr.max_qp_wr, attr.max_cqe);
}

int hello_create_qp(struct conn *conn, unsigned int depth)
{
	unsigned int sends = stream_sends(depth);
	unsigned int receives = HELLO_RECEIVES + depth;
	uint8_t timeout = 18;

	if (check_limits(conn->id->verbs, sends, receives) ||
	    conn_create_qp(conn, sends, receives))
		return -1;
	/*
	 * A host with a full queue may be late, and what is sent again then only
	 * lengthens its queue. So wait 4.096 us * 2^18, which is a second.
	 */
	if (rdma_set_option(conn->id, RDMA_OPTION_ID,
			    RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			    sizeof(timeout)))
		return explain_call("rdma_set_option", errno);
	return 0;
}

static char *message(const struct hello *hello, int slot)
{
	return (char *)hello->messages.buf + slot * MSG_SIZE;
}

int hello_open(struct hello *hello)
{
	if (region_open(&hello->messages, hello->conn, SLOT_COUNT * MSG_SIZE,
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	for (int slot = SLOT_RECV; slot < SLOT_COUNT; slot++)
		if (conn_post_recv(hello->conn, &hello->messages,
				   message(hello, slot), MSG_SIZE))
			return -1;
	return 0;
}

void hello_close(struct hello *hello)
{
	region_close(&hello->messages);
}

int hello_send(struct hello *hello, enum slot slot, const struct msg *msg)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)message(hello, slot),
		.length = MSG_SIZE,
		.lkey = hello->messages.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = sge.addr,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	msg_encode(msg, message(hello, slot));
	return conn_post(hello->conn, &wr);
}

static const char *request_name(const struct hello *hello, uint64_t wr_id)
{
	if (wr_id == (uintptr_t)message(hello, SLOT_SEND_FIRST))
		return "send of MSG_MR";
	if (wr_id == (uintptr_t)message(hello, SLOT_SEND_DONE))
		return "send of MSG_DONE";
	return "receive";
}

/*
 * Whether a completion is for what was posted, and a success. A peer can also write
 * with immediate data, which uses up a receive but brings no message.
 */
static int check(const struct hello *hello, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion(request_name(hello, wc->wr_id), wc);
	if (request_of(wc->wr_id) == REQUEST_MESSAGE &&
	    wc->opcode == (wc->wr_id < (uintptr_t)message(hello, SLOT_RECV) ?
				   IBV_WC_SEND :
				   IBV_WC_RECV))
		return 0;
	return log_fail(
		"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
		wc->opcode);
}

int hello_take(struct hello *hello, const struct ibv_wc *wc, enum msg_type type,
	       struct msg *msg, bool *sent, bool *received)
{
	if (check(hello, wc))
		return -1;
	if (!(wc->opcode & IBV_WC_RECV)) {
		*sent = true;
		return 0;
	}
	if (msg_decode(msg, (const void *)(uintptr_t)wc->wr_id, wc->byte_len))
		return -1;
	if (msg->type != type)
		return log_fail("protocol error: message type %d instead of %d",
				msg->type, type);
	*received = true;
	return 0;
}

int hello_await(struct hello *hello, enum msg_type type, struct msg *msg)
{
	bool sent = false, received = false;
	struct ibv_wc wc;

	while (!sent || !received)
		if (conn_wait(hello->conn, &wc) ||
		    hello_take(hello, &wc, type, msg, &sent, &received))
			return -1;
	return 0;
}

int hello_first(struct hello *hello, enum msg_type type, struct msg *msg)
{
	struct ibv_wc wc;

	if (conn_wait(hello->conn, &wc) || check(hello, &wc) ||
	    msg_decode(msg, (const void *)(uintptr_t)wc.wr_id, wc.byte_len))
		return -1;
	if (msg->type == type)
		return 0;
	return log_fail("protocol error: message type %d at the beginning",
			msg->type);
}

/* Whether parts of these sizes are possible; the peer has announced them. */
static int check_shape(size_t depth, size_t bytes)
{
	if (depth >= FLOW_LEAST && depth <= STREAM_DEPTH_MAX &&
	    bytes >= HEAD_TEXT && depth * bytes <= MSG_MAX_LENGTH)
		return 0;
	return log_fail(
		"the peer wants %zu parts of %zu bytes; from %d to %d of at least %d are allowed, and %d bytes in all",
		depth, bytes, FLOW_LEAST, STREAM_DEPTH_MAX, HEAD_TEXT,
		MSG_MAX_LENGTH);
}

int hello_offer(struct hello *hello, struct stream *stream)
{
	struct msg done = { .type = MSG_DONE }, msg = {
		.type = MSG_FILES,
		.mode = stream->mode,
		.mem = { .length = stream->bytes },
		.depth = stream->depth,
	};

	if (hello_send(hello, SLOT_SEND_FIRST, &msg) ||
	    hello_await(hello, MSG_MR, &msg))
		return -1;
	if (msg.mode != stream->mode || msg.mem.length % stream->bytes ||
	    msg.mem.length / stream->bytes > stream->depth)
		return log_fail(
			"protocol error: the server offers %u bytes for a %s",
			msg.mem.length, msg_mode_name(msg.mode));
	stream->ring = msg.mem;
	stream->depth = msg.mem.length / stream->bytes;
	if (check_shape(stream->depth, stream->bytes) || stream_open(stream) ||
	    hello_send(hello, SLOT_SEND_DONE, &done))
		return -1;
	return hello_await(hello, MSG_DONE, &msg);
}

int hello_answer(struct hello *hello, struct stream *stream,
		 const struct msg *first)
{
	struct msg msg = { .type = MSG_MR, .mode = first->mode };

	stream->mode = first->mode;
	stream->bytes = first->mem.length;
	stream->receives = true;
	if (first->depth < stream->depth)
		stream->depth = first->depth;
	if (check_shape(stream->depth, stream->bytes) || stream_open(stream))
		return -1;
	msg.mem.length = stream->depth * stream->bytes;
	if (stream->mode == MODE_WRITE) {
		msg.mem.addr = (uintptr_t)stream->parts.buf;
		msg.mem.rkey = stream->parts.mr->rkey;
	}
	if (hello_send(hello, SLOT_SEND_FIRST, &msg) ||
	    hello_await(hello, MSG_DONE, &msg))
		return -1;
	msg = (struct msg){ .type = MSG_DONE };
	return hello_send(hello, SLOT_SEND_DONE, &msg);
}
