/*
 * test_08_msg.c - requests and answers, and what a peer may not send
 */
#include "msg.h"

#include <string.h>

#include "test.h"

static char wire[MSG_SIZE + MSG_MAX_REQUEST + 1];

static int decode(const struct msg *msg, size_t length)
{
	struct msg got;

	msg_encode(msg, wire);
	return CAPTURED(msg_decode(&got, wire, length));
}

static void assert_refused(const struct msg *msg, size_t length,
			   const char *reason)
{
	assert_int_equal(decode(msg, length), -1);
	assert_one_line(said.err, reason);
}

TEST(accepted)
{
	struct msg request = { .type = MSG_REQUEST, .mem.length = 1 };
	struct msg answer = {
		.type = MSG_ANSWER,
		.mem.length = 4096,
		.checksum = 0x123456789,
	};
	struct msg got;

	assert_int_equal(decode(&request, MSG_SIZE + 1), 0);
	request.mode = MODE_WRITE;
	request.mem.length = MSG_MAX_REQUEST;
	assert_int_equal(decode(&request, MSG_SIZE + MSG_MAX_REQUEST), 0);
	assert_int_equal(decode(&answer, MSG_SIZE), 0);
	assert_int_equal(msg_decode(&got, wire, MSG_SIZE), 0);
	assert_int_equal(got.checksum, answer.checksum);
	assert_int_equal(got.mem.addr, 0);
}

TEST(lengths)
{
	struct msg request = { .type = MSG_REQUEST, .mem.length = 10 };
	struct msg done = { .type = MSG_DONE };

	assert_refused(&request, MSG_SIZE - 1, "of 23 bytes instead of 24");
	assert_refused(&request, MSG_SIZE, "0 bytes follow the peer's message");
	assert_refused(&request, MSG_SIZE + 9, "9 bytes follow");
	assert_refused(&request, MSG_SIZE + 11, "11 bytes follow");
	assert_refused(&done, MSG_SIZE + 1, "1 bytes follow");
	request.mem.length = 0;
	assert_refused(&request, MSG_SIZE, "request has 0 bytes");
	request.mem.length = MSG_MAX_REQUEST + 1;
	assert_refused(&request, MSG_SIZE + MSG_MAX_REQUEST + 1,
		       "request has 4097 bytes");
}

TEST(fields)
{
	struct msg request = { MSG_REQUEST, MODE_READ, { 0, 0, 1 }, 0 };
	struct msg answer = { MSG_ANSWER, 0, { 0, 1, 1 }, 0 };
	struct msg unknown = { .type = MSG_ANSWER + 1 };

	assert_refused(&request, MSG_SIZE + 1, "unknown mode 2");
	request.mode = 0;
	request.mem.addr = 1;
	assert_refused(&request, MSG_SIZE + 1, "where there must be zero");
	request.mem = (struct remote){ .rkey = 1, .length = 1 };
	assert_refused(&request, MSG_SIZE + 1, "where there must be zero");
	assert_refused(&answer, MSG_SIZE, "where there must be zero");
	assert_refused(&unknown, MSG_SIZE, "unknown type 5");
}
