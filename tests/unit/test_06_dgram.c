/*
 * test_06_dgram.c - the datagrams of chapter 06: what a peer may send, and not
 */
#include "dgram.h"

#include <string.h>

#include "test.h"

static char wire[DGRAM_HEADER + DGRAM_TEXT_MAX];
static struct dgram decoded;

static int decode(const char *bytes, size_t length)
{
	return CAPTURED(dgram_decode(&decoded, bytes, length));
}

static void assert_refused(const char *bytes, size_t length, const char *part)
{
	assert_int_equal(decode(bytes, length), -1);
	assert_string_equal(said.out, "");
	assert_one_line(said.err, part);
}

static size_t encode(enum dgram_type type, const char *text, size_t length)
{
	struct dgram dgram = {
		.type = type,
		.number = 0x01020304,
		.text = text,
		.length = length,
	};

	return dgram_encode(wire, &dgram);
}

TEST(bytes)
{
	assert_int_equal(encode(DGRAM_ANSWER, "hi", 2), 14);
	assert_memory_equal(wire, "RDS6\0\2\0\0\1\2\3\4hi", 14);
}

TEST(there_and_back)
{
	for (int type = DGRAM_TEXT; type < DGRAM_TYPE_END; type++) {
		size_t length = encode(type, "some text", 9);

		assert_int_equal(decode(wire, length), 0);
		assert_string_equal(said.err, "");
		assert_int_equal(decoded.type, type);
		assert_int_equal(decoded.number, 0x01020304);
		assert_int_equal(decoded.length, 9);
		assert_memory_equal(decoded.text, "some text", 9);
	}
	assert_int_equal(decode(wire, encode(DGRAM_BYE, NULL, 0)), 0);
	assert_int_equal(decoded.length, 0);
}

TEST(refused)
{
	size_t length = encode(DGRAM_TEXT, "x", 1);

	for (size_t n = 0; n < DGRAM_HEADER; n++)
		assert_refused(wire, n, "ours have 12 and more");
	wire[0] = 'r';
	assert_refused(wire, length, "does not begin with RDS6");
	length = encode(DGRAM_TYPE_END, "x", 1);
	assert_refused(wire, length, "there is none");
	length = encode(0, "x", 1);
	assert_refused(wire, length, "of type 0");
	length = encode(DGRAM_TEXT, "x", 1);
	wire[7] = 1;
	assert_refused(wire, length, "of type 1");
}

TEST(length)
{
	static char bytes[DGRAM_HEADER + DGRAM_TEXT_MAX + 1];

	for (int type = DGRAM_TEXT; type < DGRAM_TYPE_END; type++) {
		dgram_header(bytes, type, 0);
		assert_int_equal(decode(bytes, sizeof(bytes) - 1), 0);
		/* Not to be printed, and as long as anybody likes. */
		if (type == DGRAM_NUMBERED || type == DGRAM_ECHO ||
		    type == DGRAM_BYE)
			assert_int_equal(decode(bytes, sizeof(bytes)), 0);
		else
			assert_refused(bytes, sizeof(bytes),
				       "1025 bytes of text");
	}
}
