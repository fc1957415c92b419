/*
 * fuzz_hello.c - what a sender says to 07's receiver: its first message, and any header
 *
 * The input is the receiver's own depth, in 2 bytes; a byte, which is 1 if the receive
 * fails; and a message, which is a header and what follows it. Whatever header is accepted
 * must be the one way to say what was understood, and speak of no more than is there; and
 * what is fit, which is written here a second time, is accepted. What is agreed on must be
 * what the rest of the program relies on.
 */
#include "stream.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

static bool fails;
static size_t length;

/* In place of verbs.c's: the receive is complete. */
int conn_wait(struct conn *conn, struct ibv_wc *wc)
{
	(void)conn;
	*wc = (struct ibv_wc){
		.status = fails ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS,
		.opcode = IBV_WC_RECV,
		.byte_len = length,
	};
	return 0;
}

static uint32_t number(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return be32toh(value);
}

static bool is_fit(const uint8_t *bytes)
{
	uint8_t type;

	if (length < HEAD_SIZE || memcmp(bytes, "RDMF\4", 5))
		return false;
	type = bytes[5];
	if (type < HEAD_HELLO || type > HEAD_CREDIT)
		return false;
	if (type == HEAD_HELLO ? number(bytes + 36) - 1 >= MODE_BENCH :
				 type != HEAD_WELCOME && number(bytes + 36))
		return false;
	/* What the program reads behind it is there, and nothing else is. */
	return length - HEAD_SIZE ==
	       (type == HEAD_HERE ? 0 : number(bytes + 12));
}

static void check_head(const uint8_t *bytes)
{
	uint8_t again[HEAD_SIZE];
	struct head head;

	if (!head_decode(&head, bytes, length) != is_fit(bytes))
		abort();
	if (!is_fit(bytes))
		return;
	if (head.type == HEAD_HELLO && !mode_name(head.mode))
		abort();
	head_encode(&head, again);
	if (memcmp(again, bytes, sizeof(again)))
		abort();
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

	if (size < 3)
		return 0;
	most = bytes[0] << 8 | bytes[1];
	if (most < FLOW_LEAST || most > STREAM_DEPTH_MAX)
		return 0;
	fails = bytes[2] == 1;
	/* What stands behind the message is not ours to read. */
	length = size - 3 < STREAM_SLOT ? size - 3 : STREAM_SLOT;
	slot = malloc(length ?: 1);
	memcpy(slot, bytes + 3, length);
	check_head((uint8_t *)slot);
	stream.heads.buf = slot;
	stream.depth = most;
	if (!hello_await(&stream, &head, name))
		check(&stream, most, &head, name);
	free(slot);
	return 0;
}
