/*
 * test_msg_memory.c - the memory that messages speak of
 */
#include "msg.h"

#include "test.h"
#include "msg_bytes.h"
#include "msg_test.h"

static const uint8_t *const mr_bytes = samples[0].bytes;
static const uint8_t *const done_bytes = samples[1].bytes;

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

TEST(decode_done)
{
	assert_accepted(done_bytes);
	assert_int_equal(msg.type, MSG_DONE);
	assert_int_equal(msg.mode, 0);
	assert_true(msg.mem.addr == 0);
	assert_int_equal(msg.mem.rkey, 0);
	assert_int_equal(msg.mem.length, 0);
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

TEST(mode_names)
{
	assert_string_equal(msg_mode_name(MODE_WRITE), "write");
	assert_string_equal(msg_mode_name(MODE_READ), "read");
	assert_string_equal(msg_mode_name(0), "unknown");
	assert_string_equal(msg_mode_name(LAST_MODE + 1), "unknown");
}
