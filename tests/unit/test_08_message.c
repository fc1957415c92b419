/*
 * test_08_message.c - what a peer may send, and what not
 */
#include "message.h"

#include "test.h"

static void assert_accepted(struct msg msg, uint32_t length)
{
	assert_int_equal(CAPTURED(msg_check(&msg, length)), 0);
}

static void assert_refused(struct msg msg, uint32_t length, const char *reason)
{
	assert_int_equal(CAPTURED(msg_check(&msg, length)), -1);
	assert_one_line(said.err, reason);
}

enum {
	SIZE = sizeof(struct msg)
};

TEST(accepted)
{
	assert_accepted(msg_make(MSG_MR, MODE_READ, 0x1000, 7, 4096), SIZE);
	assert_accepted(msg_make(MSG_MR, MODE_WRITE, UINT64_MAX - 9, 7, 9),
			SIZE);
	assert_accepted(msg_make(MSG_DONE, 0, 0, 0, 0), SIZE);
	assert_accepted(msg_make(MSG_REQUEST, 0, 0, 0, 1), SIZE + 1);
	assert_accepted(msg_make(MSG_REQUEST, MODE_WRITE, 0, 0,
				 MSG_MAX_REQUEST),
			SIZE + MSG_MAX_REQUEST);
	assert_accepted(msg_make(MSG_ANSWER, 0, UINT64_MAX, 0, 1), SIZE);
}

TEST(lengths)
{
	struct msg request = msg_make(MSG_REQUEST, 0, 0, 0, 10);

	assert_refused(request, 0, "of 0 bytes instead of 24");
	assert_refused(request, SIZE - 1, "of 23 bytes instead of 24");
	assert_refused(request, SIZE, "0 bytes follow the peer's message");
	assert_refused(request, SIZE + 9, "9 bytes follow");
	assert_refused(request, SIZE + 11, "11 bytes follow");
	assert_refused(msg_make(MSG_DONE, 0, 0, 0, 0), SIZE + 1,
		       "1 bytes follow");
	assert_refused(msg_make(MSG_REQUEST, 0, 0, 0, 0), SIZE,
		       "request has 0 bytes");
	assert_refused(msg_make(MSG_REQUEST, 0, 0, 0, MSG_MAX_REQUEST + 1),
		       SIZE + MSG_MAX_REQUEST + 1, "request has 4097 bytes");
}

TEST(fields)
{
	const char *zero = "where there must be zero";
	struct msg reserved = msg_make(MSG_MR, MODE_WRITE, 0, 0, 1);

	assert_refused(msg_make(MSG_REQUEST, MODE_READ, 0, 0, 1), SIZE + 1,
		       "unknown mode 2");
	assert_refused(msg_make(MSG_MR, 0, 0, 0, 1), SIZE, "unknown mode 0");
	assert_refused(msg_make(MSG_MR, 3, 0, 0, 1), SIZE, "unknown mode 3");
	assert_refused(msg_make(MSG_MR, MODE_WRITE, UINT64_MAX - 8, 0, 10),
		       SIZE, "beyond the end of the address space");
	assert_refused(msg_make(MSG_REQUEST, 0, 1, 0, 1), SIZE + 1, zero);
	assert_refused(msg_make(MSG_REQUEST, 0, 0, 1, 1), SIZE + 1, zero);
	assert_refused(msg_make(MSG_DONE, 1, 0, 0, 0), SIZE, zero);
	assert_refused(msg_make(MSG_DONE, 0, 1, 0, 0), SIZE, zero);
	assert_refused(msg_make(MSG_DONE, 0, 0, 1, 0), SIZE, zero);
	assert_refused(msg_make(MSG_DONE, 0, 0, 0, 1), SIZE, zero);
	assert_refused(msg_make(MSG_ANSWER, 1, 0, 0, 1), SIZE, zero);
	assert_refused(msg_make(MSG_ANSWER, 0, 0, 1, 1), SIZE, zero);
	reserved.reserved = 1;
	assert_refused(reserved, SIZE, zero);
	assert_refused(msg_make(MSG_ANSWER + 1, 0, 0, 0, 0), SIZE,
		       "unknown type 5");
	assert_refused(msg_make(0, 0, 0, 0, 0), SIZE, "unknown type 0");
}

/* The published values of FNV-1a. */
TEST(published)
{
	assert_true(msg_checksum("", 0) == 0xcbf29ce484222325);
	assert_true(msg_checksum("a", 1) == 0xaf63dc4c8601ec8c);
	assert_true(msg_checksum("foobar", 6) == 0x85944171f73967e8);
	assert_true(msg_checksum("\xff", 1) == 0xaf64724c8602eb6e);
}
