/*
 * fuzz_hello.c - what 07's two sides agree on before files go across, with a peer that
 * says anything
 *
 * The input says whose side we are and what comes to it, one completion after another:
 *
 *	side	1 byte: 0 the server, others the client
 *	most	2 bytes: its own depth; of the client, also 4 and 1, the bytes of a
 *		part, and the mode
 *	0	what we have sent is there
 *	1	a message: its length, and as many bytes
 *	2	a request has failed
 *
 * So messages come out of turn, twice, too long, too short, or not at all. Whatever is
 * agreed on must be what the rest of the program relies on, and be said by messages of
 * the right types in the right order.
 */
#include "hello.h"

#include <stdlib.h>
#include <string.h>

/* What is left of the input. */
static struct {
	const uint8_t *bytes;
	size_t left;
} input;

/*
 * The memory of the messages; what stands behind the one that has come last is not
 * ours to read.
 */
static char messages[SLOT_COUNT * MSG_SIZE];

/* The types and modes of what has come, in order. */
static uint8_t types[HELLO_RECEIVES], modes[HELLO_RECEIVES];
static unsigned int count;

/* Sends that are not complete; and whether anything has failed. */
static unsigned int sends;
static bool failed;

/* Where the parts would be, if there were any. */
#define PARTS 0x10000

static uint32_t next(unsigned int bytes)
{
	uint32_t value = 0;

	while (bytes--) {
		value <<= 8;
		if (input.left) {
			value |= *input.bytes++;
			input.left--;
		}
	}
	return value;
}

/* A receive is complete: a message is there, unless there was no receive for it. */
static int receive(struct ibv_wc *wc)
{
	size_t length = next(1);
	char *heard;

	if (count == HELLO_RECEIVES)
		return -1;
	if (length > input.left)
		length = input.left;
	wc->opcode = IBV_WC_RECV;
	heard = messages + (SLOT_RECV + count) * MSG_SIZE;
	wc->wr_id = (uintptr_t)heard;
	wc->byte_len = length;
	memcpy(heard, input.bytes, length < MSG_SIZE ? length : MSG_SIZE);
	input.bytes += length;
	input.left -= length;
	types[count] = length > 5 ? heard[5] : 0;
	modes[count++] = length > 6 ? heard[6] : 0;
	return 0;
}

/* In place of rdma.c's: completions come from the input, and messages with them. */
int conn_wait(struct conn *conn, struct ibv_wc *wc)
{
	(void)conn;
	if (!input.left)
		return -1;
	memset(wc, 0, sizeof(*wc));
	switch (next(1)) {
	case 0:
		if (!sends)
			return -1;
		sends--;
		wc->opcode = IBV_WC_SEND;
		wc->wr_id = (uintptr_t)messages;
		return 0;
	case 1:
		return receive(wc);
	default:
		/* Its other fields are undefined. */
		wc->status = IBV_WC_WR_FLUSH_ERR;
		wc->opcode = (enum ibv_wc_opcode)next(1);
		failed = true;
		return 0;
	}
}

int conn_post(struct conn *conn, struct ibv_send_wr *wr)
{
	const void *wire = (const void *)(uintptr_t)wr->sg_list->addr;
	struct msg again;

	(void)conn;
	if (wire != messages && wire != messages + MSG_SIZE)
		abort();
	/* What we say, a peer with the same decoder understands. */
	if (msg_decode(&again, wire, wr->sg_list->length))
		abort();
	sends++;
	return 0;
}

/* What is not part of this. */
int conn_create_qp(struct conn *conn, unsigned int most_sends,
		   unsigned int receives)
{
	(void)conn;
	(void)most_sends;
	(void)receives;
	return -1;
}

int region_open(struct region *region, struct conn *conn, size_t size,
		int access)
{
	(void)region;
	(void)conn;
	(void)size;
	(void)access;
	return -1;
}

void region_close(struct region *region)
{
	(void)region;
}

int conn_post_recv(struct conn *conn, const struct region *region, void *buf,
		   uint32_t length)
{
	(void)conn;
	(void)region;
	(void)buf;
	(void)length;
	return -1;
}

int explain_call(const char *call, int err)
{
	(void)call;
	(void)err;
	return -1;
}

int explain_completion(const char *what, const struct ibv_wc *wc)
{
	(void)what;
	(void)wc;
	return -1;
}

unsigned int stream_sends(unsigned int depth)
{
	return 2 * depth;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
		    size_t optlen)
{
	(void)id;
	(void)level;
	(void)optname;
	(void)optval;
	(void)optlen;
	return -1;
}

/* Which the options let through. */
static bool may_be(size_t depth, size_t bytes)
{
	return depth >= FLOW_LEAST && depth <= STREAM_DEPTH_MAX &&
	       bytes >= HEAD_TEXT && depth * bytes <= MSG_MAX_LENGTH;
}

/* What stream.c allocates, divides by and uses as an index. */
int stream_open(struct stream *stream)
{
	if (!may_be(stream->depth, stream->bytes))
		abort();
	if (stream->mode != MODE_WRITE && stream->mode != MODE_READ &&
	    stream->mode != MODE_SEND)
		abort();
	stream->parts.buf = (char *)PARTS;
	stream->parts.size = stream->depth * stream->bytes;
	return 0;
}

/* Whether exactly these have come, one after another. */
static bool came(unsigned int number, enum msg_type first, enum msg_type second)
{
	return !failed && count == number && types[0] == first &&
	       (number < 2 || types[1] == second);
}

static void serve(struct hello *hello, struct stream *stream)
{
	unsigned int most = next(2);
	struct ibv_mr mr = { .rkey = 7 };
	struct msg msg;

	if (!may_be(most, HEAD_TEXT))
		return;
	stream->depth = most;
	stream->parts.mr = &mr;
	if (hello_first(hello, MSG_FILES, &msg))
		return;
	if (!came(1, MSG_FILES, 0))
		abort();
	if (hello_answer(hello, stream, &msg))
		return;
	if (!came(2, MSG_FILES, MSG_DONE) || stream->depth > most ||
	    stream->bytes != msg.mem.length || !stream->receives)
		abort();
}

static void send_files(struct hello *hello, struct stream *stream)
{
	static const enum mode ways[] = { MODE_WRITE, MODE_READ, MODE_SEND };
	unsigned int depth = next(2);
	size_t bytes = next(4);
	enum mode mode = ways[next(1) % 3];

	if (!may_be(depth, bytes))
		return;
	stream->mode = mode;
	stream->depth = depth;
	stream->bytes = bytes;
	if (hello_offer(hello, stream))
		return;
	if (!came(2, MSG_MR, MSG_DONE) || modes[0] != mode ||
	    stream->depth > depth || stream->bytes != bytes ||
	    stream->ring.length != stream->depth * bytes ||
	    stream->ring.addr > UINT64_MAX - stream->ring.length)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct ibv_mr mr = { .lkey = 3 };
	struct hello hello = { .messages = { .buf = messages, .mr = &mr } };
	struct stream stream = { 0 };

	input.bytes = bytes;
	input.left = size;
	count = sends = 0;
	failed = false;
	if (next(1))
		send_files(&hello, &stream);
	else
		serve(&hello, &stream);
	return 0;
}
