/*
 * test_msg.c - the messages, byte by byte, and what a peer may not send
 */
#include "message.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static struct msg msg;

/* A message, and which of its bytes must be zero: bit i is byte i. */
struct sample {
	enum msg_type type;
	uint8_t bytes[MSG_SIZE];
	uint32_t zeros;
};

/* Written down by hand from the layout in msg.c. */
static const struct sample samples[] = {
	{ MSG_MR,
	  { 'R',  'D',	'M',  'A',  3,	  1,	2,    0,
	    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	    0xde, 0xad, 0xbe, 0xef, 0x00, 0x00, 0x04, 0x00 },
	  0x000080 },
	{ MSG_DONE, { 'R', 'D', 'M', 'A', 3, 2 }, 0xffffc0 },
	{ MSG_BENCH, { 'R', 'D', 'M', 'A', 3, 3, [22] = 1 }, 0x0fffc0 },
	{ MSG_FILES,
	  { 'R', 'D', 'M', 'A', 3, 4, 4, [19] = 64, [21] = 1 },
	  0x00ff80 },
};

/* Which of them speak of memory, and the last mode that there is. */
#define WITH_MEMORY 3
#define LAST_MODE MODE_SEND
static const int with_memory_at[WITH_MEMORY] = { 0, 2, 3 };

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

#define SAMPLES (sizeof(samples) / sizeof(*samples))

/* Where every message has these. */
enum {
	VERSION = 4,
	TYPE = 5
};

/* The message with the byte at offset changed is refused for reason. */
static void assert_byte_refused(const struct sample *sample, size_t offset,
				uint8_t value, const char *reason)
{
	uint8_t bytes[MSG_SIZE];

	memcpy(bytes, sample->bytes, MSG_SIZE);
	bytes[offset] = value;
	assert_refused(bytes, MSG_SIZE, reason);
}

static bool is_type(int type)
{
	for (size_t i = 0; i < SAMPLES; i++)
		if ((int)samples[i].type == type)
			return true;
	return false;
}

/* Each becomes what it was, and nothing beside it is written. */
TEST(there_and_back)
{
	uint8_t bytes[MSG_SIZE + 1];

	for (size_t i = 0; i < SAMPLES; i++) {
		assert_accepted(samples[i].bytes);
		assert_int_equal(msg.type, samples[i].type);
		memset(bytes, 0xee, sizeof(bytes));
		msg_encode(&msg, bytes);
		assert_memory_equal(bytes, samples[i].bytes, MSG_SIZE);
		assert_int_equal(bytes[MSG_SIZE], 0xee);
	}
}

TEST(magic)
{
	for (size_t i = 0; i < SAMPLES; i++)
		for (size_t at = 0; at < 4; at++)
			assert_byte_refused(&samples[i], at, 'x',
					    "begin with RDMA");
}

TEST(version)
{
	char reason[64];

	for (int version = 0; version < 256; version++) {
		if (version == MSG_VERSION)
			continue;
		snprintf(reason, sizeof(reason),
			 "version %d, this program version %d", version,
			 MSG_VERSION);
		assert_byte_refused(&samples[0], VERSION, version, reason);
	}
}

TEST(type)
{
	char reason[64];

	for (int type = 0; type < 256; type++) {
		if (is_type(type))
			continue;
		snprintf(reason, sizeof(reason), "unknown type %d", type);
		assert_byte_refused(&samples[0], TYPE, type, reason);
	}
}

/* Each byte that a type does not use must be zero, all of it. */
TEST(zeros)
{
	for (size_t i = 0; i < SAMPLES; i++)
		for (size_t at = 0; at < MSG_SIZE; at++) {
			if (!(samples[i].zeros >> at & 1))
				continue;
			for (int bit = 0; bit < 8; bit++)
				assert_byte_refused(&samples[i], at, 1 << bit,
						    "must be zero");
		}
}

TEST(size)
{
	static const size_t bad[] = { 0, 1, MSG_SIZE - 1, MSG_SIZE + 1, 1024 };
	uint8_t bytes[1024] = { 0 };
	char reason[64];

	memcpy(bytes, samples[0].bytes, MSG_SIZE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(reason, sizeof(reason), "of %zu bytes instead of %d",
			 bad[i], MSG_SIZE);
		assert_refused(bytes, bad[i], reason);
	}
}

#if defined(WITH_MEMORY)
/* --- the memory that they speak of */

static const uint8_t *const mr_bytes = samples[0].bytes;

/* Where the fields are. */
enum {
	MODE = 6,
	ADDR = 8,
	LENGTH = 20
};

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

TEST(decode_mr)
{
	assert_accepted(mr_bytes);
	assert_int_equal(msg.type, MSG_MR);
	assert_int_equal(msg.mode, MODE_READ);
	assert_true(msg.mem.addr == 0x1122334455667788);
	assert_int_equal(msg.mem.rkey, 0xdeadbeef);
	assert_int_equal(msg.mem.length, 1024);
}

TEST(mode)
{
	uint8_t bytes[MSG_SIZE];

	memcpy(bytes, mr_bytes, MSG_SIZE);
	for (int mode = 0; mode < 256; mode++) {
		bytes[MODE] = mode;
		if (mode < MODE_WRITE || mode > LAST_MODE) {
			assert_refused(bytes, MSG_SIZE, "unknown mode");
			continue;
		}
		assert_accepted(bytes);
		assert_int_equal(msg.mode, mode);
	}
}

TEST(lengths)
{
	static const uint32_t bad[] = { 0,	    MSG_MAX_LENGTH + 1,
					0x7fffffff, 0x80000000,
					0xfffffffe, 0xffffffff };

	for (size_t i = 0; i < WITH_MEMORY; i++) {
		const uint8_t *bytes = samples[with_memory_at[i]].bytes;

		assert_accepted(with_memory(bytes, 0, 1));
		assert_int_equal(msg.mem.length, 1);
		assert_accepted(with_memory(bytes, 0, MSG_MAX_LENGTH));
		assert_int_equal(msg.mem.length, MSG_MAX_LENGTH);
		for (size_t j = 0; j < sizeof(bad) / sizeof(*bad); j++)
			assert_refused(with_memory(bytes, 0, bad[j]), MSG_SIZE,
				       "1 to 67108864 are allowed");
	}
	assert_one_line(said.err, "4294967295 bytes");
}

TEST(end_of_address_space)
{
	const char *reason = "beyond the end of the address space";

	assert_accepted(with_memory(mr_bytes, UINT64_MAX - 4096, 4096));
	assert_true(msg.mem.addr == UINT64_MAX - 4096);
	assert_refused(with_memory(mr_bytes, UINT64_MAX - 4095, 4097), MSG_SIZE,
		       reason);
	assert_refused(with_memory(mr_bytes, UINT64_MAX, 1), MSG_SIZE, reason);
	assert_refused(with_memory(mr_bytes, UINT64_MAX, MSG_MAX_LENGTH),
		       MSG_SIZE, reason);
}
#endif
