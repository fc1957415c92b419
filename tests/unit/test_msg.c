/*
 * test_msg.c - the messages, byte by byte, and what a peer may not send
 */
#include "msg.h"

#include <stdbool.h>
#include <stdio.h>

#include "test.h"
#include "msg_bytes.h"
#include "msg_test.h"

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
