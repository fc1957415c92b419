/*
 * msg_test.h - decodes messages, and asserts what came of it
 *
 * For one test program: everything here is static. Include it after cmocka.h.
 */
#ifndef MSG_TEST_H
#define MSG_TEST_H

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "msg.h"

static struct msg msg;

/* A message, and which of its bytes must be zero: bit i is byte i. */
struct sample {
	enum msg_type type;
	uint8_t bytes[MSG_SIZE];
	uint32_t zeros;
};

/* Decodes size bytes which stand alone, so that a read beyond them is seen. */
static int decode(const uint8_t *bytes, size_t size)
{
	/* At an odd address, too: a peer's bytes may stand anywhere. */
	uint8_t *copy = malloc(size + 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy + 1, bytes, size);
	memset(&msg, 0xee, sizeof(msg));
	ret = CAPTURED(msg_decode(&msg, copy + 1, size));
	free(copy);
	assert_string_equal(said.out, "");
	return ret;
}

static void assert_accepted(const uint8_t bytes[MSG_SIZE])
{
	int ret = decode(bytes, MSG_SIZE);

	assert_string_equal(said.err, "");
	assert_int_equal(ret, 0);
}

/* It is refused in one line that has reason. */
static inline void assert_refused(const uint8_t *bytes, size_t size,
				  const char *reason)
{
	assert_int_equal(decode(bytes, size), -1);
	assert_memory_equal(said.err, "error: ", 7);
	assert_one_line(said.err, reason);
}

#endif
