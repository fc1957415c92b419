/*
 * test_03_msg.c - the messages of chapter 03, and what a peer may not send
 */
#include "msg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture.h"

/* Messages as bytes, written down by hand from the layout in msg.c. */
static const uint8_t done[MSG_SIZE] = { 'R', 'D', 'M', 'A', 2, 2 };
static const uint8_t nonce[MSG_SIZE] = { 'R',  'D',  'M',  'A',	 2,    4,
					 0,    0,    0x11, 0x22, 0x33, 0x44,
					 0x55, 0x66, 0x77, 0x88 };
static const uint8_t echo[MSG_SIZE] = { 'R', 'D', 'M', 'A', 2, 5, 0, 0,
					0,   0,	  0,   0,   0, 0, 0, 0xff };

static struct msg msg;
static struct captured said;

static int decode(const uint8_t *bytes, size_t size)
{
	/* They stand alone, at an odd address. */
	uint8_t *copy = malloc(size + 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy + 1, bytes, size);
	memset(&msg, 0xee, sizeof(msg));
	capture_start();
	ret = msg_decode(&msg, copy + 1, size);
	capture_stop(&said);
	free(copy);
	assert_string_equal(said.out, "");
	return ret;
}

static void assert_refused(const uint8_t *bytes, size_t size,
			   const char *reason)
{
	assert_int_equal(decode(bytes, size), -1);
	assert_memory_equal(said.err, "error: ", 7);
	assert_one_line(said.err, reason);
}

/* message with the byte at offset changed is refused for reason. */
static void assert_byte_refused(const uint8_t message[MSG_SIZE], size_t offset,
				uint8_t value, const char *reason)
{
	uint8_t bytes[MSG_SIZE];

	memcpy(bytes, message, MSG_SIZE);
	bytes[offset] = value;
	assert_refused(bytes, MSG_SIZE, reason);
}

static void test_there_and_back(void **state)
{
	static const struct {
		const uint8_t *bytes;
		enum msg_type type;
		uint64_t nonce;
	} all[] = { { done, MSG_DONE, 0 },
		    { nonce, MSG_NONCE, 0x1122334455667788 },
		    { echo, MSG_ECHO, 0xff } };
	uint8_t bytes[MSG_SIZE];

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(decode(all[i].bytes, MSG_SIZE), 0);
		assert_string_equal(said.err, "");
		assert_int_equal(msg.type, all[i].type);
		assert_true(msg.nonce == all[i].nonce);
		msg_encode(&msg, bytes);
		assert_memory_equal(bytes, all[i].bytes, MSG_SIZE);
	}
}

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_byte_refused(nonce, i, 'x', "begin with RDMA");
	assert_byte_refused(nonce, 4, 1, "version 1, this program version 2");
	for (int type = 0; type < 256; type++)
		if (type != MSG_DONE && type != MSG_NONCE && type != MSG_ECHO)
			assert_byte_refused(nonce, 5, type, "unknown type");
	assert_byte_refused(nonce, 6, 1, "must be zero");
	assert_byte_refused(nonce, 7, 128, "must be zero");
	/* A nonce where none belongs. */
	for (size_t i = 8; i < MSG_SIZE; i++)
		assert_byte_refused(done, i, 1, "must be zero");
}

static void test_size(void **state)
{
	uint8_t bytes[1024] = { 0 };
	static const size_t bad[] = { 0, 1, MSG_SIZE - 1, MSG_SIZE + 1, 1024 };

	(void)state;
	memcpy(bytes, nonce, MSG_SIZE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(bytes, bad[i], "instead of 16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("03_msg", tests, NULL, NULL);
}
