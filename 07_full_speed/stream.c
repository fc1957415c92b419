/*
 * stream.c - a stream of messages with a full queue, and credits
 */
#include "stream.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "explain.h"
#include "iwarp.h"
#include "log.h"

/* How often we give a sign of life: the peer's -t is at least twice that. */
#define SIGN_MS 500

/* What a request was: the low bits of its wr_id. */
enum request {
	REQUEST_RECEIVE, /* from bit 2 on, the slot */
	REQUEST_HEAD, /* a header of ours */
	REQUEST_PART, /* a part that we send or write */
	REQUEST_READ /* a part that we read; from bit 2 on, its length */
};

/* Only parts that come by SEND need receives of their own size. */
static bool receives_parts(const struct stream *stream)
{
	return stream->mode == MODE_SEND && stream->receives;
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
	return receives_parts(stream) ?
		       part_at(stream, slot) - HEAD_SIZE :
		       (char *)stream->heads.buf + slot * STREAM_SLOT;
}

/* Posts it with others: for a part with its header, or for a header and a text. */
static int add_receive(struct stream *stream, unsigned int slot)
{
	bool part = receives_parts(stream);
	struct ibv_sge piece =
		chain_piece(part ? &stream->parts : &stream->heads,
			    message_in(stream, slot),
			    part ? HEAD_SIZE + stream->bytes : STREAM_SLOT);

	return chain_receive(&stream->chain, slot << 2 | REQUEST_RECEIVE,
			     piece);
}

/* The peer may hear of receives only when they are posted. */
static int post_receives(struct stream *stream)
{
	if (chain_post_receives(&stream->chain))
		return -1;
	stream->flow.owed += stream->due;
	stream->due = 0;
	return 0;
}

/* What the peer may do to our parts. On iWARP, what we read is written by the peer. */
static int access_of(const struct stream *stream)
{
	bool read = stream->mode == MODE_READ;

	if (!stream->receives)
		return read ? IBV_ACCESS_REMOTE_READ : 0;
	if (stream->mode == MODE_WRITE ||
	    (read && iwarp_is(stream->conn->id->verbs)))
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	return IBV_ACCESS_LOCAL_WRITE;
}

int stream_open(struct stream *stream)
{
	if (region_open(&stream->parts, stream->conn,
			stream->depth * (front(stream) + stream->bytes),
			access_of(stream)))
		return -1;
	for (unsigned int slot = 0; slot < stream->depth; slot++)
		if (add_receive(stream, slot))
			return -1;
	stream->due = stream->depth;
	return post_receives(stream);
}

/* Whether the send queue has room, for a message that returns credits as well. */
static bool has_room(const struct stream *stream, unsigned int left)
{
	return stream->chain.sends - stream->chain.sent + left <
	       stream_sends(stream->depth);
}

int stream_post(struct stream *stream, struct head *head, const void *text,
		char *part)
{
	uint64_t place = stream->chain.sends % stream_sends(stream->depth);
	char *wire = part ? part - HEAD_SIZE :
			    stream->outgoing + place * STREAM_SLOT;
	uint32_t length = HEAD_SIZE + (part || text ? head->length : 0);
	struct ibv_send_wr wr = {
		.wr_id = part ? REQUEST_PART : REQUEST_HEAD,
		.opcode = IBV_WR_SEND,
	};

	head->credits = flow_send(&stream->flow);
	head->done = stream->taken;
	head_encode(head, wire);
	if (text)
		memcpy(wire + HEAD_SIZE, text, head->length);
	if (chain_send(&stream->chain, wr,
		       chain_piece(part ? &stream->parts : &stream->heads, wire,
				   length)))
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
	return stream_post(stream, &head, NULL, NULL);
}

/*
 * A sign of life, if our own work between waits has taken SIGN_MS since the last one.
 * Returns 1 if it has, 0 if not, or -1.
 */
static int give_sign(struct stream *stream)
{
	const struct patience *patience = &stream->conn->patience;
	struct head head = { .type = HEAD_CREDIT };
	int64_t now = wait_deadline(0);

	stream->busy_ms += now - stream->since;
	stream->since = now;
	if (stream->busy_ms < SIGN_MS)
		return 0;
	stream->busy_ms = 0;
	if (wait_readable(-1, -1, patience->stop_fd, 0) < 0 &&
	    errno != ETIMEDOUT)
		return wait_fail("the disk", errno, patience);
	/* Without a credit, the peer owes us one: it has heard of us. */
	if (!flow_may_send(&stream->flow) || !has_room(stream, 1))
		return 1;
	return stream_post(stream, &head, NULL, NULL) ? -1 : 1;
}

int stream_send(struct stream *stream, struct head *head, const void *text,
		size_t length)
{
	struct news news;

	while (!flow_may_send(&stream->flow) || !has_room(stream, 1)) {
		if (stream_next(stream, &news))
			return -1;
		if (news.what != NEWS_NONE)
			return log_fail(
				"protocol error: the peer does not wait for an answer");
	}
	head->length = length;
	return stream_post(stream, head, text, NULL);
}

char *stream_part(const struct stream *stream)
{
	/* Our memory is free when our request is complete, ... */
	if (!flow_may_send(&stream->flow) || !has_room(stream, 1) ||
	    (stream->mode != MODE_READ &&
	     stream->posted - stream->complete >= stream->depth))
		return NULL;
	/* ... and the peer's end of it is free when the peer says so. */
	if (stream->mode != MODE_SEND &&
	    stream->posted - stream->taken >= stream->depth)
		return NULL;
	return part_at(stream, stream->posted);
}

static int write_part(struct stream *stream, char *part, uint32_t length)
{
	size_t place = part - (char *)stream->parts.buf;
	struct ibv_send_wr wr = {
		.wr_id = REQUEST_PART,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htobe32(length),
		.wr.rdma = { stream->ring + place, stream->ring_rkey },
	};

	/* It has no header, which would return credits. */
	stream->flow.may--;
	return chain_send(&stream->chain, wr,
			  chain_piece(&stream->parts, part, length));
}

int stream_send_part(struct stream *stream, uint32_t length)
{
	char *part = part_at(stream, stream->posted++);
	struct head head = { .type = HEAD_DATA, .length = length };

	if (give_sign(stream) < 0)
		return -1;
	if (stream->mode == MODE_WRITE)
		return write_part(stream, part, length);
	if (stream->mode == MODE_SEND)
		return stream_post(stream, &head, NULL, part);
	head.type = HEAD_HERE;
	head.addr = (uintptr_t)part;
	head.rkey = stream->parts.mr->rkey;
	return stream_post(stream, &head, NULL, NULL);
}

/* Receiver: fetches a part from where the peer says that it is. */
static int read_part(struct stream *stream, const struct head *head)
{
	char *part = part_at(stream, stream->arrived - 1);
	struct ibv_send_wr wr = {
		.wr_id = (uint64_t)head->length << 2 | REQUEST_READ,
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { head->addr, head->rkey },
	};

	return chain_send(&stream->chain, wr,
			  chain_piece(&stream->parts, part, head->length));
}

/* A part has come, or can be fetched, in that way: is there a place for it? */
static int check_part(struct stream *stream, enum mode mode, uint32_t length)
{
	if (stream->mode != mode)
		return log_fail(
			"protocol error: a part that comes another way than was agreed");
	if (!stream->receives || !length || length > stream->bytes ||
	    stream->arrived - stream->taken >= stream->depth)
		return log_fail(
			"protocol error: a part of %u bytes, where %zu are the most, or one too many",
			length, stream->bytes);
	stream->arrived++;
	return 0;
}

/* The next part is here. */
static void on_part(struct stream *stream, const char *part, uint32_t length,
		    struct news *news)
{
	news->what = NEWS_PART;
	news->part = part;
	news->length = length;
	stream->held.part = true;
}

/* The peer has written it, and says how long it is. */
static int on_write(struct stream *stream, uint32_t length, struct news *news)
{
	if (check_part(stream, MODE_WRITE, length))
		return -1;
	on_part(stream, part_at(stream, stream->arrived - 1), length, news);
	return 0;
}

/* It is behind its header; or the header says where it is. */
static int on_data(struct stream *stream, struct news *news)
{
	const struct head *head = &news->head;
	enum mode mode = head->type == HEAD_DATA ? MODE_SEND : MODE_READ;

	if (check_part(stream, mode, head->length))
		return -1;
	if (mode == MODE_SEND) {
		on_part(stream, part_at(stream, stream->held.slot),
			head->length, news);
		return 0;
	}
	/* The peer has its credit when its memory is free again. */
	stream->held.credit = false;
	return read_part(stream, head);
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
	    flow_returned(&stream->flow, head->credits) ||
	    (!stream->receives && on_done(stream, head->done)))
		return -1;
	if (head->type == HEAD_DATA || head->type == HEAD_HERE)
		return on_data(stream, news);
	if (head->length > HEAD_TEXT)
		return log_fail("protocol error: a text of %u bytes",
				head->length);
	news->text = wire + HEAD_SIZE;
	news->what = head->type == HEAD_CREDIT ? NEWS_NONE : NEWS_MESSAGE;
	return 0;
}

/* One of our requests is complete; a read has brought a part. */
static void on_request(struct stream *stream, uint64_t wr_id, struct news *news)
{
	enum request of = wr_id & 3;

	stream->chain.sent++;
	if (of == REQUEST_READ) {
		on_part(stream, part_at(stream, stream->complete), wr_id >> 2,
			news);
		stream->held.credit = true;
	}
	stream->complete += of == REQUEST_READ || of == REQUEST_PART;
}

/* What a completion means, and what is due when that is dealt with. */
static int on_completion(struct stream *stream, const struct ibv_wc *wc,
			 struct news *news)
{
	static const char *const names[] = {
		[REQUEST_RECEIVE] = "receive",
		[REQUEST_HEAD] = "send of a message",
		[REQUEST_PART] = "send or write of a part",
		[REQUEST_READ] = "read of a part",
	};

	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion(names[wc->wr_id & 3], wc);
	if (!(wc->opcode & IBV_WC_RECV)) {
		on_request(stream, wc->wr_id, news);
		return 0;
	}
	stream->held = (struct held){ .receive = true,
				      .credit = true,
				      .slot = wc->wr_id >> 2 };
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		return on_write(stream, be32toh(wc->imm_data), news);
	return on_message(stream, wc->byte_len, news);
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

/* The next completion, if there is one: 1, 0 if not, or -1. */
static int try_next(struct stream *stream, struct news *news)
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
	int n = give_sign(stream) < 0 ? -1 : try_next(stream, news);
	struct ibv_wc wc;

	if (n == 0 &&
	    (conn_wait(stream->conn, &wc) || on_completion(stream, &wc, news)))
		n = -1;
	stream->since = wait_deadline(0);
	return n < 0 ? -1 : 0;
}

int stream_release(struct stream *stream)
{
	return release(stream) || post_receives(stream) ? -1 : 0;
}

int stream_message(struct stream *stream, struct news *news)
{
	do {
		if (stream_next(stream, news))
			return -1;
	} while (news->what == NEWS_NONE);
	return 0;
}

int stream_alive(struct stream *stream)
{
	struct news news = { .what = NEWS_NONE };
	int n = give_sign(stream);

	if (n <= 0)
		return n;
	/* If the peer has left, what is posted comes back. */
	if (conn_news(stream->conn))
		return -1;
	/* No more than one queue of it: it may come without end. */
	for (unsigned int i = 0; n > 0 && i < stream->depth; i++) {
		n = try_next(stream, &news);
		if (news.what != NEWS_NONE)
			return log_fail(
				"protocol error: the peer does not wait for an answer");
	}
	return n < 0 ? -1 : 0;
}
