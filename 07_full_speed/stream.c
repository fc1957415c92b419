/*
 * stream.c - a stream of messages with a full queue, and credits
 */
#include "stream.h"

#include <endian.h>
#include <string.h>

#include "explain.h"
#include "iwarp.h"
#include "log.h"

/* A slot of the region heads: a header, and room for a text. */
#define SLOT (HEAD_SIZE + HEAD_TEXT)

unsigned int stream_sends(unsigned int depth)
{
	/* Each part, and a message that returns credits for each two. */
	return 2 * depth;
}

/* ---- The memory ---- */

static char *head_in(const struct stream *stream, unsigned int slot)
{
	return (char *)stream->heads.buf + slot * SLOT;
}

/* Headers to be sent have a slot for each place in the send queue. */
static char *head_out(const struct stream *stream)
{
	return head_in(stream,
		       stream->depth + stream->chain.sends %
					       stream_sends(stream->depth));
}

/* A part that is sent has its header in front of it: they are one message. */
static size_t front(const struct stream *stream)
{
	return stream->mode == MODE_SEND ? HEAD_SIZE : 0;
}

static char *part_at(const struct stream *stream, uint64_t number)
{
	size_t place = front(stream) + stream->bytes;

	return (char *)stream->parts.buf + number % stream->depth * place +
	       front(stream);
}

/* Where the message of a receive is. */
static char *message_in(const struct stream *stream, unsigned int slot)
{
	return stream->mode == MODE_SEND && stream->receives ?
		       part_at(stream, slot) - HEAD_SIZE :
		       head_in(stream, slot);
}

/* What the peer may do to our parts. */
static int access_of(const struct stream *stream)
{
	if (stream->mode == MODE_WRITE && stream->receives)
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	if (!stream->receives)
		return stream->mode == MODE_READ ? IBV_ACCESS_REMOTE_READ : 0;
	/* On iWARP, what a read brings comes as a write by the peer. */
	if (stream->mode == MODE_READ && iwarp_is(stream->conn->id->verbs))
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	return IBV_ACCESS_LOCAL_WRITE;
}

/* Its receive comes again: for a part with its header, or for a header and a text. */
static int add_receive(struct stream *stream, unsigned int slot)
{
	bool part = stream->mode == MODE_SEND && stream->receives;
	struct ibv_sge piece =
		part ? chain_piece(&stream->parts, message_in(stream, slot),
				   HEAD_SIZE + stream->bytes) :
		       chain_piece(&stream->heads, message_in(stream, slot),
				   SLOT);

	return chain_receive(&stream->chain, request_id(REQUEST_RECEIVE, slot),
			     piece);
}

/* The peer may hear of receives only when they are posted. */
static int post_receives(struct stream *stream)
{
	if (chain_post_receives(&stream->chain))
		return -1;
	flow_posted(&stream->flow, stream->due);
	stream->due = 0;
	return 0;
}

/* Whether the send queue has room, for a message that returns credits as well. */
static bool has_room(const struct stream *stream, unsigned int left)
{
	return stream->chain.sends - stream->chain.sent + left <
	       stream_sends(stream->depth);
}

/* Sends head, with length bytes of a part, or of a text, behind it. */
static int post_head(struct stream *stream, struct head *head, const void *text,
		     char *part)
{
	const struct region *region = part ? &stream->parts : &stream->heads;
	char *wire = part ? part - HEAD_SIZE : head_out(stream);
	uint32_t length = HEAD_SIZE + (part || text ? head->length : 0);
	struct ibv_send_wr wr = {
		.wr_id = request_id(part ? REQUEST_PART : REQUEST_HEAD, 0),
		.opcode = IBV_WR_SEND,
	};

	head->credits = flow_send(&stream->flow);
	head->done = stream->taken;
	head_encode(head, wire);
	if (text)
		memcpy(wire + HEAD_SIZE, text, head->length);
	if (chain_send(&stream->chain, wr, chain_piece(region, wire, length)))
		return -1;
	/* Parts gather; anything else goes now, with what has gathered. */
	if (head->type == HEAD_DATA || head->type == HEAD_HERE)
		return 0;
	return chain_post_sends(&stream->chain);
}

/* Credits that are owed go back with any message, or in one of their own. */
static int return_credits(struct stream *stream)
{
	struct head head = { .type = HEAD_CREDIT };

	if (!flow_must_return(&stream->flow) || !has_room(stream, 0))
		return 0;
	return post_head(stream, &head, NULL, NULL);
}

/* ---- The three ways ---- */

char *stream_part(const struct stream *stream)
{
	bool remote = stream->mode != MODE_SEND;

	/* Our memory is free when our request is complete, ... */
	if (!flow_may_send(&stream->flow) || !has_room(stream, 1) ||
	    (stream->mode != MODE_READ &&
	     stream->posted - stream->complete >= stream->depth))
		return NULL;
	/* ... and the peer's end of it is free when the peer says so. */
	if (remote && stream->posted - stream->taken >= stream->depth)
		return NULL;
	return part_at(stream, stream->posted);
}

static int write_part(struct stream *stream, char *part, uint32_t length)
{
	size_t place = part - (char *)stream->parts.buf;
	struct ibv_send_wr wr = {
		.wr_id = request_id(REQUEST_PART, 0),
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htobe32(length),
		.wr.rdma = {
			.remote_addr = stream->ring.addr + place,
			.rkey = stream->ring.rkey,
		},
	};

	flow_send_bare(&stream->flow);
	return chain_send(&stream->chain, wr,
			  chain_piece(&stream->parts, part, length));
}

int stream_send_part(struct stream *stream, uint32_t length)
{
	char *part = part_at(stream, stream->posted++);
	struct head head = { .type = HEAD_DATA, .length = length };

	if (stream->mode == MODE_WRITE)
		return write_part(stream, part, length);
	if (stream->mode == MODE_SEND)
		return post_head(stream, &head, NULL, part);
	head.type = HEAD_HERE;
	head.addr = (uintptr_t)part;
	head.rkey = stream->parts.mr->rkey;
	return post_head(stream, &head, NULL, NULL);
}

/* Receiver: fetches a part from where the peer says that it is. */
static int read_part(struct stream *stream, const struct head *head)
{
	struct ibv_send_wr wr = {
		.wr_id = request_id(REQUEST_READ, head->length),
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { head->addr, head->rkey },
	};

	return chain_send(&stream->chain, wr,
			  chain_piece(&stream->parts,
				      part_at(stream, stream->arrived),
				      head->length));
}

bool stream_may_send(const struct stream *stream)
{
	return flow_may_send(&stream->flow) && has_room(stream, 1);
}

int stream_wait(struct stream *stream, struct news *news)
{
	*news = (struct news){ .what = NEWS_NONE };
	if (!flow_may_send(&stream->flow))
		stream->flow.waits++;
	while (!stream_may_send(stream) && news->what == NEWS_NONE)
		if (stream_next(stream, news))
			return -1;
	return 0;
}

int stream_send(struct stream *stream, struct head *head, const void *text,
		size_t length)
{
	struct news news;

	if (stream_wait(stream, &news))
		return -1;
	if (news.what != NEWS_NONE)
		return log_fail(
			"protocol error: the peer does not wait for an answer");
	head->length = length;
	return post_head(stream, head, text, NULL);
}

/* ---- What completions mean ---- */

/* A part has come, or can be fetched: is there a place for it? */
static int check_part(struct stream *stream, uint32_t length)
{
	if (stream->receives && length && length <= stream->bytes &&
	    stream->arrived - stream->taken < stream->depth)
		return 0;
	return log_fail(
		"protocol error: a part of %u bytes, where %zu are the most, or one too many",
		length, stream->bytes);
}

/* The peer has written a part, and says how long it is. */
static int on_write(struct stream *stream, uint32_t length, struct news *news)
{
	if (stream->mode != MODE_WRITE)
		return log_fail("protocol error: a write with immediate data");
	if (check_part(stream, length))
		return -1;
	*news = (struct news){
		.what = NEWS_PART,
		.part = part_at(stream, stream->arrived++),
		.length = length,
	};
	stream->held.part = true;
	return 0;
}

/* A part is behind the header; or the header says where it is. */
static int on_part(struct stream *stream, struct news *news)
{
	const struct head *head = &news->head;
	enum mode mode = head->type == HEAD_DATA ? MODE_SEND : MODE_READ;

	if (stream->mode != mode)
		return log_fail(
			"protocol error: a part that comes another way than was agreed");
	if (check_part(stream, head->length))
		return -1;
	if (mode == MODE_READ) {
		/* The peer has its credit when its memory is free again. */
		stream->held.credit = false;
		if (read_part(stream, head))
			return -1;
	} else {
		news->what = NEWS_PART;
		news->part = part_at(stream, stream->held.slot);
		news->length = head->length;
		stream->held.part = true;
	}
	stream->arrived++;
	return 0;
}

/* Sender: how many parts the peer has taken, of which it says the low 32 bits. */
static int on_done(struct stream *stream, uint32_t done)
{
	uint32_t more = done - (uint32_t)stream->taken;

	if (more > stream->posted - stream->taken)
		return log_fail(
			"protocol error: the peer has taken more parts than there were");
	stream->taken += more;
	return 0;
}

/* One of the peer's messages. */
static int on_message(struct stream *stream, size_t size, struct news *news)
{
	const char *wire = message_in(stream, stream->held.slot);
	struct head *head = &news->head;

	if (head_decode(head, wire, size) ||
	    flow_returned(&stream->flow, head->credits))
		return -1;
	if (!stream->receives && on_done(stream, head->done))
		return -1;
	if (head->type == HEAD_DATA || head->type == HEAD_HERE)
		return on_part(stream, news);
	if (head->length > HEAD_TEXT)
		return log_fail("protocol error: a text of %u bytes",
				head->length);
	news->text = wire + HEAD_SIZE;
	news->what = head->type == HEAD_CREDIT ? NEWS_NONE : NEWS_MESSAGE;
	return 0;
}

/* What the last completion brought has been dealt with. */
static int release(struct stream *stream)
{
	struct held held = stream->held;

	stream->held = (struct held){ 0 };
	stream->due += held.credit;
	stream->taken += held.part;
	if (held.receive && add_receive(stream, held.slot))
		return -1;
	/* What was read gives a credit for a receive that is there already. */
	if (!stream->chain.receives_waiting && post_receives(stream))
		return -1;
	return return_credits(stream);
}

static const char *request_name(uint64_t wr_id)
{
	static const char *const names[] = {
		[REQUEST_MESSAGE] = "send of MSG_DONE",
		[REQUEST_RECEIVE] = "receive",
		[REQUEST_HEAD] = "send of a message",
		[REQUEST_PART] = "send or write of a part",
		[REQUEST_READ] = "read of a part",
	};

	return names[request_of(wr_id)];
}

/* One of our requests is complete; a read has brought a part. */
static void on_request(struct stream *stream, uint64_t wr_id, struct news *news)
{
	enum request of = request_of(wr_id);

	/* The MSG_DONE of the agreement is no request of the stream. */
	stream->chain.sent += of != REQUEST_MESSAGE;
	if (of == REQUEST_READ) {
		news->what = NEWS_PART;
		news->part = part_at(stream, stream->complete);
		news->length = request_number(wr_id);
		stream->held.part = stream->held.credit = true;
	}
	stream->complete += of == REQUEST_READ || of == REQUEST_PART;
}

/* What a completion means, and what is due when that is dealt with. */
static int on_completion(struct stream *stream, const struct ibv_wc *wc,
			 struct news *news)
{
	*news = (struct news){ .what = NEWS_NONE };
	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion(request_name(wc->wr_id), wc);
	if (!(wc->opcode & IBV_WC_RECV)) {
		on_request(stream, wc->wr_id, news);
		return 0;
	}
	stream->held = (struct held){
		.receive = true,
		.credit = true,
		.slot = request_number(wc->wr_id),
	};
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		return on_write(stream, be32toh(wc->imm_data), news);
	return on_message(stream, wc->byte_len, news);
}

int stream_try(struct stream *stream, struct news *news)
{
	struct ibv_wc wc;
	int n = release(stream) ? -1 : chain_poll(&stream->chain, &wc);

	*news = (struct news){ .what = NEWS_NONE };
	if (n)
		return n < 0 || on_completion(stream, &wc, news) ? -1 : 1;
	/* What has gathered goes before we sleep: nothing else may wake us. */
	if (post_receives(stream) || return_credits(stream))
		return -1;
	return chain_post_sends(&stream->chain);
}

int stream_next(struct stream *stream, struct news *news)
{
	int n = stream_try(stream, news);
	struct ibv_wc wc;

	if (n)
		return n < 0 ? -1 : 0;
	if (conn_wait(stream->conn, &wc))
		return -1;
	return on_completion(stream, &wc, news);
}

int stream_flush(struct stream *stream)
{
	struct news news;

	while (stream->chain.sent < stream->chain.sends)
		if (stream_next(stream, &news))
			return -1;
	return 0;
}

/* ---- The beginning and the end ---- */

int stream_open(struct stream *stream)
{
	unsigned int depth = stream->depth;

	flow_open(&stream->flow, depth);
	/* A quarter: the rest is under way while the next chain gathers. */
	stream->chain.conn = stream->conn;
	stream->chain.most = depth / 4 < CHAIN_MAX ? depth / 4 : CHAIN_MAX;
	if (region_open(&stream->parts, stream->conn,
			depth * (front(stream) + stream->bytes),
			access_of(stream)) ||
	    region_open(&stream->heads, stream->conn,
			(depth + stream_sends(depth)) * SLOT,
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	for (unsigned int slot = 0; slot < depth; slot++)
		if (add_receive(stream, slot))
			return -1;
	return post_receives(stream);
}

void stream_close(struct stream *stream)
{
	region_close(&stream->parts);
	region_close(&stream->heads);
}
