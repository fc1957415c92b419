/*
 * fuzz_hello.c - the first message to 07's receiver, from a peer that says anything
 *
 * The input is the receiver's own depth, in 2 bytes; a byte, which is 1 if the receive
 * fails; and the message. What is agreed on must be what the rest of the program relies
 * on.
 */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

/* What is left of the input. */
static struct {
	const uint8_t *bytes;
	size_t left;
} input;

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

/* In place of rdma.c's: the receive is complete. */
int conn_wait(struct conn *conn, struct ibv_wc *wc)
{
	(void)conn;
	memset(wc, 0, sizeof(*wc));
	if (next(1) == 1)
		wc->status = IBV_WC_WR_FLUSH_ERR;
	wc->opcode = IBV_WC_RECV;
	wc->byte_len = input.left < STREAM_SLOT ? input.left : STREAM_SLOT;
	return 0;
}

/* What is not part of this. */
int conn_create_qp(struct conn *conn, unsigned int sends, unsigned int receives)
{
	(void)conn;
	(void)sends;
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

int stream_open(struct stream *stream)
{
	(void)stream;
	return -1;
}

int stream_post(struct stream *stream, struct head *head, const void *text,
		char *part)
{
	(void)stream;
	(void)head;
	(void)text;
	(void)part;
	return -1;
}

int stream_message(struct stream *stream, struct news *news)
{
	(void)stream;
	(void)news;
	return -1;
}

int64_t wait_deadline(int ms)
{
	return ms;
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

/* What stream.c allocates, divides by and uses as an index. */
static void check(const struct stream *stream, unsigned int most,
		  const struct head *head, const char *name)
{
	if (stream->depth < FLOW_LEAST || stream->depth > most ||
	    stream->flow.ours != stream->depth ||
	    stream->flow.may != head->credits ||
	    stream->flow.theirs != head->credits ||
	    stream->depth > head->credits || !stream->chain.most ||
	    stream->chain.most > CHAIN_MAX)
		abort();
	if (stream->bytes < HEAD_TEXT ||
	    stream->bytes * stream->depth > MEMORY_MAX)
		abort();
	if (stream->mode != MODE_WRITE && stream->mode != MODE_READ &&
	    stream->mode != MODE_SEND)
		abort();
	if (head->type != HEAD_HELLO || name[head->length])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct stream stream = { 0 };
	char name[HEAD_TEXT + 1], *slot;
	unsigned int most;
	struct head head;
	size_t length;

	input.bytes = bytes;
	input.left = size;
	most = next(2);
	if (most < FLOW_LEAST || most > STREAM_DEPTH_MAX || size < 3)
		return 0;
	/* What stands behind the message is not ours to read. */
	length = size - 3 < STREAM_SLOT ? size - 3 : STREAM_SLOT;
	slot = malloc(length ?: 1);
	memcpy(slot, bytes + 3, length);
	stream.heads.buf = slot;
	stream.depth = most;
	if (!hello_await(&stream, &head, name))
		check(&stream, most, &head, name);
	free(slot);
	return 0;
}
