/*
 * test_07_head.c - headers, byte by byte, and what a peer may not send
 */
#include "message.h"
#include "refusal.h"

#include <string.h>

#include "test.h"

static const uint8_t wire[HEAD_SIZE] = {
	'R',  'D',  'M',  'F',	4,    5,    0x01, 0x02, 0,    0,    0,	  3,
	0,    0,    0,	  9,	0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
	0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0,    0,    0,	  7,
};
static struct head head;

static int decode(const void *bytes, size_t size)
{
	return CAPTURED(head_decode(&head, bytes, size));
}

TEST(there_and_back)
{
	uint8_t again[HEAD_SIZE];

	assert_int_equal(decode(wire, HEAD_SIZE), 0);
	assert_int_equal(head.type, HEAD_HERE);
	assert_int_equal(head.credits, 258);
	assert_int_equal(head.done, 3);
	assert_int_equal(head.length, 9);
	assert_true(head.number == 0x1112131415161718);
	assert_true(head.addr == 0x2122232425262728);
	assert_int_equal(head.rkey, 7);
	head_encode(&head, again);
	assert_memory_equal(again, wire, HEAD_SIZE);
}

/* A byte at a time: all that may not be otherwise. */
TEST(bad)
{
	static const struct {
		size_t offset;
		uint8_t value;
		const char *reason;
	} bad[] = {
		{ 0, 'X', "does not begin with a header" },
		{ 4, 1, "does not begin with a header" },
		{ 36, 1, "or mode 16777216" },
		{ 39, 2, "or mode 2" },
		{ 5, 0, "unknown type 0" },
		{ 5, 9, "unknown type 9" },
		{ 5, 255, "unknown type 255" },
	};
	uint8_t bytes[HEAD_SIZE];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memcpy(bytes, wire, HEAD_SIZE);
		bytes[bad[i].offset] = bad[i].value;
		assert_int_equal(decode(bytes, HEAD_SIZE), -1);
		assert_one_line(said.err, bad[i].reason);
	}
}

/* As many bytes behind it as it says; behind HERE, none. */
TEST(size)
{
	uint8_t bytes[HEAD_SIZE + 10];

	memcpy(bytes, wire, HEAD_SIZE);
	assert_int_equal(decode(bytes, HEAD_SIZE - 1), -1);
	assert_one_line(said.err, "39 bytes is too short");
	assert_int_equal(decode(bytes, 0), -1);
	assert_int_equal(decode(bytes, HEAD_SIZE + 9), -1);
	bytes[5] = HEAD_DATA;
	assert_int_equal(decode(bytes, HEAD_SIZE + 9), 0);
	assert_int_equal(decode(bytes, HEAD_SIZE + 8), -1);
	assert_int_equal(decode(bytes, HEAD_SIZE + 10), -1);
	assert_int_equal(decode(bytes, HEAD_SIZE), -1);
}

/* HELLO says how files go across, in a way that there is; nothing else does. */
TEST(mode)
{
	static const uint8_t name = 'a';
	uint8_t bytes[HEAD_SIZE + 1];

	for (int mode = 0; mode < 6; mode++) {
		memcpy(bytes, wire, HEAD_SIZE);
		bytes[HEAD_SIZE] = name;
		bytes[5] = HEAD_HELLO;
		bytes[15] = 1;
		bytes[39] = mode;
		assert_int_equal(decode(bytes, sizeof(bytes)),
				 mode && mode < 5 ? 0 : -1);
		if (mode && mode < 5)
			assert_int_equal(head.mode, mode);
	}
}

TEST(refusals)
{
	assert_non_null(strstr(refusal_words(REFUSAL_NO_DIRECTORY), "-d"));
	for (int i = REFUSAL_NAME; i < REFUSAL_COUNT; i++)
		assert_non_null(refusal_words(i));
	assert_string_equal(refusal_words(0), "for no known reason");
	assert_string_equal(refusal_words(REFUSAL_COUNT),
			    "for no known reason");
	assert_string_equal(refusal_words(UINT64_MAX), "for no known reason");
}
