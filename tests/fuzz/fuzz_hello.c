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

/* The message that has come last: its own bytes, and no more. */
static uint8_t *heard;

/* The types and modes of what has come, in order. */
static uint8_t types[DATA_RECEIVES], modes[DATA_RECEIVES];
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

	if (count == DATA_RECEIVES)
		return -1;
	if (length > input.left)
		length = input.left;
	wc->opcode = IBV_WC_RECV;
	wc->wr_id = request_id(REQUEST_MESSAGE, 1, SLOT_RECV + count);
	wc->byte_len = length;
	free(heard);
	heard = malloc(length ? length : 1);
	if (!heard)
		abort();
	memcpy(heard, input.bytes, length);
	input.bytes += length;
	input.left -= length;
	types[count] = length > 5 ? heard[5] : 0;
	modes[count++] = length > 6 ? heard[6] : 0;
	return 0;
}

/* In place of data.c's: completions come from the input, and messages with them. */
int data_wait(struct data *data, struct ibv_wc *wc)
{
	(void)data;
	if (!input.left)
		return -1;
	memset(wc, 0, sizeof(*wc));
	switch (next(1)) {
	case 0:
		if (!sends)
			return -1;
		sends--;
		wc->opcode = IBV_WC_SEND;
		wc->wr_id = request_id(REQUEST_MESSAGE, 1, SLOT_SEND_FIRST);
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

void *data_message(const struct data *data, int slot)
{
	(void)data;
	if (slot != SLOT_RECV + (int)count - 1)
		abort();
	return heard;
}

const char *data_request_name(uint64_t wr_id)
{
	(void)wr_id;
	return "a request";
}

int data_post_send(struct data *data, enum slot slot, const struct msg *msg)
{
	uint8_t wire[MSG_SIZE];
	struct msg again;

	(void)data;
	if (slot != SLOT_SEND_FIRST && slot != SLOT_SEND_DONE)
		abort();
	/* What we say, a peer with the same decoder understands. */
	msg_encode(msg, wire);
	if (msg_decode(&again, wire, sizeof(wire)))
		abort();
	sends++;
	return 0;
}

/* Which the options let through. */
static bool may_be(size_t depth, size_t bytes)
{
	return depth >= FLOW_LEAST && depth <= CHANNEL_DEPTH_MAX &&
	       bytes >= HEAD_TEXT && depth * bytes <= MSG_MAX_LENGTH;
}

/* What channel.c allocates, divides by and uses as an index. */
int channel_open(struct channel *channel)
{
	if (!may_be(channel->depth, channel->bytes))
		abort();
	if (channel->mode != MODE_WRITE && channel->mode != MODE_READ &&
	    channel->mode != MODE_SEND)
		abort();
	channel->parts.buf = (char *)PARTS;
	channel->parts.size = channel->depth * channel->bytes;
	return 0;
}

/* Whether exactly these have come, one after another. */
static bool came(unsigned int number, enum msg_type first, enum msg_type second)
{
	return !failed && count == number && types[0] == first &&
	       (number < 2 || types[1] == second);
}

static void serve(struct channel *channel)
{
	unsigned int most = next(2);
	struct ibv_mr mr = { .rkey = 7 };
	struct msg msg;

	if (!may_be(most, HEAD_TEXT))
		return;
	channel->depth = most;
	channel->parts.mr = &mr;
	if (hello_first(channel->data, &msg))
		return;
	if (msg.type == MSG_BENCH) {
		if (!came(1, MSG_BENCH, 0) || msg.mem.length == 0 ||
		    msg.mem.length > MSG_MAX_LENGTH)
			abort();
		return;
	}
	if (!came(1, MSG_FILES, 0))
		abort();
	if (hello_receive(channel, &msg))
		return;
	if (!came(2, MSG_FILES, MSG_DONE) || channel->depth > most ||
	    channel->bytes != msg.mem.length || !channel->receives)
		abort();
}

static void send_files(struct channel *channel)
{
	static const enum mode ways[] = { MODE_WRITE, MODE_READ, MODE_SEND };
	unsigned int depth = next(2);
	size_t bytes = next(4);
	enum mode mode = ways[next(1) % 3];

	if (!may_be(depth, bytes))
		return;
	channel->mode = mode;
	channel->depth = depth;
	channel->bytes = bytes;
	if (hello_send(channel))
		return;
	if (!came(2, MSG_MR, MSG_DONE) || modes[0] != mode ||
	    channel->depth > depth || channel->bytes != bytes ||
	    channel->ring.length != channel->depth * bytes ||
	    channel->ring.addr > UINT64_MAX - channel->ring.length)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct data data = { 0 };
	struct channel channel = { .data = &data };

	input.bytes = bytes;
	input.left = size;
	count = sends = 0;
	failed = false;
	if (next(1))
		send_files(&channel);
	else
		serve(&channel);
	free(heard);
	heard = NULL;
	return 0;
}
