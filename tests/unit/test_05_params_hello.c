/*
 * test_05_params_hello.c - the figures in chapter 05's hello
 */
#include "params.h"

#include <string.h>

#include "test.h"

static const uint8_t wire[12] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
				  0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c };
static const struct hello hello = {
	.number = 0x01020304,
	.connected = 0x05060708,
	.max = 0x090a0b0c,
};

TEST(there_and_back)
{
	uint8_t bytes[PARAMS_MAX];
	struct hello got;

	assert_int_equal(params_encode_hello(&hello, bytes), sizeof(wire));
	assert_memory_equal(bytes, wire, sizeof(wire));
	assert_int_equal(params_decode_hello(&got, wire, sizeof(wire)), 0);
	assert_int_equal(got.number, hello.number);
	assert_int_equal(got.connected, hello.connected);
	assert_int_equal(got.max, hello.max);
}

TEST(length)
{
	uint8_t bytes[64] = { 0 };
	struct hello got;

	for (size_t length = 0; length <= sizeof(bytes); length++) {
		int ret;

		if (length == sizeof(wire))
			continue;
		ret = CAPTURED(params_decode_hello(&got, bytes, length));
		assert_int_equal(ret, -1);
		assert_one_line(said.err, "bytes instead of 12");
	}
}
