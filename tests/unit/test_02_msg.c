/*
 * test_02_msg.c - the messages of chapter 02, and what a peer may not send
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

/* A message as bytes, written down by hand from the layout in msg.c. */
static const uint8_t mr_bytes[MSG_SIZE] = {
	'R',  'D',  'M',  'A',	1,    1,    2,	  0,	0x11, 0x22, 0x33, 0x44,
	0x55, 0x66, 0x77, 0x88, 0xde, 0xad, 0xbe, 0xef, 0x00, 0x00, 0x04, 0x00
};
static const uint8_t done_bytes[MSG_SIZE] = { 'R', 'D', 'M', 'A', 1, 2 };
static const uint8_t bench_bytes[MSG_SIZE] = {
	[0] = 'R', [1] = 'D', [2] = 'M', [3] = 'A', [4] = 1, [5] = 3, [22] = 1
};

/* Where the fields are. */
enum {
	VERSION = 4,
	TYPE = 5,
	MODE = 6,
	RESERVED = 7,
	ADDR = 8,
	RKEY = 16,
	LENGTH = 20
};

static struct msg msg;
static struct captured said;

/* Decodes size bytes which stand alone, so that a read beyond them is seen. */
static int decode(const uint8_t *bytes, size_t size)
{
	/* At an odd address, too: a peer's bytes may stand anywhere. */
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

static void assert_accepted(const uint8_t bytes[MSG_SIZE])
{
	int ret = decode(bytes, MSG_SIZE);

	assert_string_equal(said.err, "");
	assert_int_equal(ret, 0);
}

/* It is refused in one line that has reason. */
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

static void put(uint8_t *to, uint64_t value, int width)
{
	for (int i = 0; i < width; i++)
		to[i] = value >> 8 * (width - 1 - i);
}

/* message with another address and length. */
static const uint8_t *with_memory(const uint8_t message[MSG_SIZE],
				  uint64_t addr, uint32_t length)
{
	static uint8_t bytes[MSG_SIZE];

	memcpy(bytes, message, MSG_SIZE);
	put(bytes + ADDR, addr, 8);
	put(bytes + LENGTH, length, 4);
	return bytes;
}

static void test_decode_mr(void **state)
{
	(void)state;
	assert_accepted(mr_bytes);
	assert_int_equal(msg.type, MSG_MR);
	assert_int_equal(msg.mode, MODE_READ);
	assert_true(msg.mem.addr == 0x1122334455667788);
	assert_int_equal(msg.mem.rkey, 0xdeadbeef);
	assert_int_equal(msg.mem.length, 1024);
}

static void test_decode_others(void **state)
{
	(void)state;
	assert_accepted(done_bytes);
	assert_int_equal(msg.type, MSG_DONE);
	assert_int_equal(msg.mode, 0);
	assert_true(msg.mem.addr == 0);
	assert_int_equal(msg.mem.rkey, 0);
	assert_int_equal(msg.mem.length, 0);
	assert_accepted(bench_bytes);
	assert_int_equal(msg.type, MSG_BENCH);
	assert_int_equal(msg.mem.length, 256);
}

/* Each message becomes exactly the bytes written down above. */
static void test_encode(void **state)
{
	static const uint8_t *const all[] = { mr_bytes, done_bytes,
					      bench_bytes };
	uint8_t bytes[MSG_SIZE + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		assert_accepted(all[i]);
		memset(bytes, 0xee, sizeof(bytes));
		msg_encode(&msg, bytes);
		assert_memory_equal(bytes, all[i], MSG_SIZE);
		assert_int_equal(bytes[MSG_SIZE], 0xee);
	}
}

static void test_magic(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_byte_refused(mr_bytes, i, 'x', "begin with RDMA");
}

static void test_version(void **state)
{
	(void)state;
	assert_byte_refused(mr_bytes, VERSION, 0, "version 0, ");
	assert_byte_refused(mr_bytes, VERSION, 2,
			    "version 2, this program version 1");
	assert_byte_refused(mr_bytes, VERSION, 255, "version 255, ");
}

static void test_type(void **state)
{
	(void)state;
	for (int type = 0; type < 256; type++)
		if (type != MSG_MR && type != MSG_DONE && type != MSG_BENCH)
			assert_byte_refused(mr_bytes, TYPE, type,
					    "unknown type");
	assert_one_line(said.err, "type 255");
}

static void test_mode(void **state)
{
	uint8_t bytes[MSG_SIZE];

	(void)state;
	memcpy(bytes, mr_bytes, MSG_SIZE);
	for (int mode = 0; mode < 256; mode++) {
		bytes[MODE] = mode;
		if (mode < MODE_WRITE || mode > MODE_BENCH) {
			assert_refused(bytes, MSG_SIZE, "unknown mode");
			continue;
		}
		assert_accepted(bytes);
		assert_int_equal(msg.mode, mode);
	}
}

static void test_reserved(void **state)
{
	(void)state;
	for (int value = 1; value < 256; value++)
		assert_byte_refused(mr_bytes, RESERVED, value, "must be zero");
}

/* Each byte that a type does not use must be zero. */
static void test_unused(void **state)
{
	(void)state;
	for (size_t i = MODE; i < MSG_SIZE; i++)
		assert_byte_refused(done_bytes, i, 1, "must be zero");
	for (size_t i = MODE; i < LENGTH; i++)
		assert_byte_refused(bench_bytes, i, 1, "must be zero");
}

static void test_lengths(void **state)
{
	static const uint8_t *const both[] = { mr_bytes, bench_bytes };
	static const uint32_t bad[] = { 0,	    MSG_MAX_LENGTH + 1,
					0x7fffffff, 0x80000000,
					0xfffffffe, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_accepted(with_memory(both[i], 0, 1));
		assert_int_equal(msg.mem.length, 1);
		assert_accepted(with_memory(both[i], 0, MSG_MAX_LENGTH));
		assert_int_equal(msg.mem.length, MSG_MAX_LENGTH);
		for (size_t j = 0; j < sizeof(bad) / sizeof(*bad); j++)
			assert_refused(with_memory(both[i], 0, bad[j]),
				       MSG_SIZE, "1 to 67108864 are allowed");
	}
	assert_one_line(said.err, "4294967295 bytes");
}

static void test_end_of_address_space(void **state)
{
	const char *reason = "beyond the end of the address space";

	(void)state;
	assert_accepted(with_memory(mr_bytes, UINT64_MAX - 4096, 4096));
	assert_true(msg.mem.addr == UINT64_MAX - 4096);
	assert_refused(with_memory(mr_bytes, UINT64_MAX - 4095, 4097), MSG_SIZE,
		       reason);
	assert_refused(with_memory(mr_bytes, UINT64_MAX, 1), MSG_SIZE, reason);
	assert_refused(with_memory(mr_bytes, UINT64_MAX, MSG_MAX_LENGTH),
		       MSG_SIZE, reason);
}

static void test_size(void **state)
{
	static const size_t bad[] = { 0, 1, MSG_SIZE - 1, MSG_SIZE + 1, 1024 };
	uint8_t bytes[1024] = { 0 };

	(void)state;
	memcpy(bytes, mr_bytes, MSG_SIZE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(bytes, bad[i], "instead of 24");
	assert_one_line(said.err, "of 1024 bytes");
}

static void test_mode_names(void **state)
{
	(void)state;
	assert_string_equal(msg_mode_name(MODE_WRITE), "write");
	assert_string_equal(msg_mode_name(MODE_READ), "read");
	assert_string_equal(msg_mode_name(MODE_BENCH), "benchmark");
	assert_string_equal(msg_mode_name(0), "unknown");
	assert_string_equal(msg_mode_name(4), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode_mr),
		cmocka_unit_test(test_decode_others),
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_magic),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_type),
		cmocka_unit_test(test_mode),
		cmocka_unit_test(test_reserved),
		cmocka_unit_test(test_unused),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_end_of_address_space),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_mode_names),
	};

	return cmocka_run_group_tests_name("02_msg", tests, NULL, NULL);
}
