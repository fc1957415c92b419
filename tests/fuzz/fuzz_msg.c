/*
 * fuzz_msg.c - the decoder of the messages, fed with anything
 *
 * Whatever it accepts must be the one way to say what it understood: encoded
 * again, it is the same bytes. These are chapter 07's messages.
 */
#include "message.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What the program does next relies on these. */
static void check(const struct msg *msg)
{
	if (msg->type == MSG_MR &&
	    (msg->mem.length == 0 || msg->mem.length > MSG_MAX_LENGTH ||
	     msg->mem.addr > UINT64_MAX - msg->mem.length ||
	     msg->mode < MODE_WRITE || msg->mode > MODE_SEND))
		abort();
	if (msg->type == MSG_FILES &&
	    (msg->mode != MODE_WRITE && msg->mode != MODE_READ &&
	     msg->mode != MODE_SEND))
		abort();
}

static bool same(const struct msg *a, const struct msg *b)
{
	return a->type == b->type && a->mode == b->mode &&
	       a->mem.addr == b->mem.addr && a->mem.rkey == b->mem.rkey &&
	       a->mem.length == b->mem.length && a->depth == b->depth;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t again[MSG_SIZE];
	struct msg msg, copy;

	if (msg_decode(&msg, bytes, size))
		return 0;
	if (size != MSG_SIZE)
		abort();
	check(&msg);
	msg_encode(&msg, again);
	if (memcmp(again, bytes, MSG_SIZE))
		abort();
	if (msg_decode(&copy, again, MSG_SIZE) || !same(&msg, &copy))
		abort();
	return 0;
}
