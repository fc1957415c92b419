/*
 * hello.c - what the two sides agree on before files go across
 */
#include "stream.h"

#include <errno.h>
#include <string.h>

#include "explain.h"
#include "log.h"

/* The sender's depth, and then what both have agreed on. */
static void set_depth(struct stream *stream, unsigned int depth)
{
	stream->depth = depth;
	/* A quarter: the rest is under way while the next chain gathers. */
	stream->chain.most = depth / 4 < CHAIN_MAX ? depth / 4 : CHAIN_MAX;
	stream->since = wait_deadline(0);
}

int hello_open(struct stream *stream)
{
	struct conn *conn = stream->conn;
	unsigned int depth = stream->depth;
	uint8_t timeout = 18;

	if (conn_create_qp(conn, stream_sends(depth), depth))
		return -1;
	/*
	 * A host with a full queue may be late, and what is sent again then only
	 * lengthens its queue. So wait 4.096 us * 2^18, which is a second.
	 */
	if (rdma_set_option(conn->id, RDMA_OPTION_ID,
			    RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			    sizeof(timeout)))
		return explain_call("rdma_set_option", errno);
	if (region_open(&stream->heads, conn,
			(depth + stream_sends(depth)) * STREAM_SLOT,
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	stream->outgoing = (char *)stream->heads.buf + depth * STREAM_SLOT;
	stream->chain.conn = conn;
	if (stream->receives)
		return conn_post_recv(conn, &stream->heads, stream->heads.buf,
				      STREAM_SLOT);
	set_depth(stream, depth);
	stream->flow =
		(struct flow){ .ours = depth, .theirs = depth, .may = 1 };
	return stream_open(stream);
}

void hello_close(struct stream *stream)
{
	region_close(&stream->parts);
	region_close(&stream->heads);
}

int hello_say(struct stream *stream, struct head *head, const char *name,
	      struct news *answer)
{
	unsigned int depth;

	head->type = HEAD_HELLO;
	head->mode = stream->mode;
	head->bytes = stream->bytes;
	head->length = strlen(name);
	if (stream_post(stream, head, name, NULL) ||
	    stream_message(stream, answer))
		return -1;
	if (answer->head.type == HEAD_REFUSED)
		return 0;
	if (answer->head.type != HEAD_WELCOME)
		return log_fail("protocol error: message type %d instead of %d",
				answer->head.type, HEAD_WELCOME);
	/* Some of its credits may be spent by now, in answers to signs of life. */
	depth = answer->head.depth;
	if (depth < FLOW_LEAST || depth > stream->depth ||
	    depth < stream->flow.may)
		return log_fail("protocol error: the server has %u receives",
				depth);
	set_depth(stream, depth);
	stream->flow.theirs = depth;
	stream->ring = answer->head.addr;
	stream->ring_rkey = answer->head.rkey;
	return 0;
}

/* The first message is no part of the stream yet. */
static int take_hello(struct stream *stream, struct head *head)
{
	struct ibv_wc wc;

	if (conn_wait(stream->conn, &wc))
		return -1;
	if (wc.status != IBV_WC_SUCCESS)
		return explain_completion("receive", &wc);
	/* A write with immediate data uses up a receive, but brings no message. */
	if (wc.opcode != IBV_WC_RECV)
		return log_fail(
			"protocol error: a completion with opcode %d, where a message was to come",
			wc.opcode);
	if (head_decode(head, stream->heads.buf, wc.byte_len))
		return -1;
	if (head->type == HEAD_HELLO && head->length <= HEAD_TEXT)
		return 0;
	return log_fail("protocol error: message type %d at the beginning",
			head->type);
}

int hello_await(struct stream *stream, struct head *head,
		char name[HEAD_TEXT + 1])
{
	unsigned int depth = stream->depth;

	if (take_hello(stream, head))
		return -1;
	if (head->credits < depth)
		depth = head->credits;
	if (head->mode == MODE_BENCH || depth < FLOW_LEAST ||
	    head->bytes < HEAD_TEXT || head->bytes > MEMORY_MAX / depth)
		return log_fail(
			"the peer wants %u parts of %u bytes by %s; from %d parts and %d bytes on are allowed, and %d bytes in all",
			depth, head->bytes, mode_name(head->mode), FLOW_LEAST,
			HEAD_TEXT, MEMORY_MAX);
	stream->mode = head->mode;
	stream->bytes = head->bytes;
	set_depth(stream, depth);
	stream->flow = (struct flow){
		.ours = depth,
		.theirs = head->credits,
		.may = head->credits,
	};
	/* Its receive comes again as one of the stream's. */
	memcpy(name, (char *)stream->heads.buf + HEAD_SIZE, head->length);
	name[head->length] = 0;
	return 0;
}
