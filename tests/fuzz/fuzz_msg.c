/*
 * fuzz_msg.c - the decoder of chapter 02's messages, fed with anything
 *
 * Whatever it accepts must be the one way to say what it understood: encoded
 * again, it is the same bytes.
 */
#include "msg.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

/* In place of log.c's: why a message is refused is not to be read here. */
int log_fail(const char *fmt, ...)
{
	(void)fmt;
	return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t again[MSG_SIZE];
	struct msg msg, copy;

	if (msg_decode(&msg, bytes, size))
		return 0;
	if (size != MSG_SIZE)
		abort();
	/* What the program does next relies on these. */
	if (msg.type != MSG_DONE &&
	    (msg.mem.length == 0 || msg.mem.length > MSG_MAX_LENGTH ||
	     msg.mem.addr > UINT64_MAX - msg.mem.length))
		abort();
	msg_encode(&msg, again);
	if (memcmp(again, bytes, MSG_SIZE))
		abort();
	if (msg_decode(&copy, again, MSG_SIZE) || msg.type != copy.type ||
	    msg.mode != copy.mode || msg.mem.addr != copy.mem.addr ||
	    msg.mem.rkey != copy.mem.rkey || msg.mem.length != copy.mem.length)
		abort();
	return 0;
}
