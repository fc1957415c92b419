/*
 * test_06_dgram.c - the datagrams of chapter 06: what a peer may send, and not
 */
#include "rds.h"

#include <string.h>

#include "test.h"

static union {
	struct dgram dgram;
	char bytes[DGRAM_HEADER + DGRAM_TEXT_MAX + 1];
} wire;

static int check(size_t length)
{
	return CAPTURED(dgram_check(&wire.dgram, length));
}

static void assert_refused(size_t length, const char *part)
{
	assert_int_equal(check(length), -1);
	assert_string_equal(said.out, "");
	assert_one_line(said.err, part);
}

TEST(bytes)
{
	assert_int_equal(dgram_fill(&wire.dgram, DGRAM_ANSWER, 0, "hi"), 14);
	assert_memory_equal(wire.bytes, "RDS6\0\2\0\0\0\0\0\0hi", 14);
	dgram_fill(&wire.dgram, DGRAM_NUMBERED, 0x01020304, "");
	assert_memory_equal(wire.bytes, "RDS6\0\3\0\0\1\2\3\4hi", 14);
}

TEST(text_that_is_too_long)
{
	char text[DGRAM_TEXT_MAX + 2];

	memset(text, 'x', sizeof(text));
	wire.bytes[sizeof(wire.bytes) - 1] = '!';
	assert_int_equal(dgram_fill(&wire.dgram, DGRAM_TEXT, 0, text),
			 sizeof(wire.bytes) - 1);
	assert_int_equal(wire.bytes[sizeof(wire.bytes) - 1], '!');
}

TEST(refused)
{
	size_t length = dgram_fill(&wire.dgram, DGRAM_TEXT, 0, "x");

	for (size_t n = 0; n < DGRAM_HEADER; n++)
		assert_refused(n, "a header of 12");
	wire.bytes[0] = 'r';
	assert_refused(length, "does not begin with");
	dgram_fill(&wire.dgram, DGRAM_TYPE_END, 0, "");
	assert_refused(length, "there is none");
	dgram_fill(&wire.dgram, 0, 0, "");
	assert_refused(length, "of type 0");
	dgram_fill(&wire.dgram, DGRAM_TEXT, 0, "");
	wire.bytes[7] = 1;
	assert_refused(length, "of type 1");
}

TEST(length)
{
	for (int type = DGRAM_TEXT; type < DGRAM_TYPE_END; type++) {
		dgram_fill(&wire.dgram, type, 0, "");
		assert_int_equal(check(DGRAM_HEADER), type);
		assert_int_equal(check(sizeof(wire.bytes) - 1), type);
		/* Not to be printed, and as long as anybody likes. */
		if (type == DGRAM_NUMBERED || type == DGRAM_ECHO ||
		    type == DGRAM_BYE)
			assert_int_equal(check(sizeof(wire.bytes)), type);
		else
			assert_refused(sizeof(wire.bytes),
				       "1025 bytes of text");
	}
}
