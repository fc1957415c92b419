/*
 * test_02_pattern.c - each byte that the peer should have written is looked at
 */
#include "pattern.h"

#include <string.h>

#include "test.h"

/* Three pages, and a little. */
#define SIZE 12300

static char memory[SIZE];

static int check(void)
{
	return CAPTURED(pattern_check(memory, SIZE));
}

static void fill(void)
{
	memset(memory, 0, SIZE);
	strcpy(memory, "message from passive/server side with pid 4194304");
	pattern_fill(memory, SIZE);
}

/* Whichever byte it is, and whatever is wrong with it. */
TEST(wrong)
{
	fill();
	for (size_t i = 0; i < SIZE; i++) {
		memory[i] ^= 1U << i % 8;
		assert_int_equal(check(), -1);
		assert_one_line(said.err, "error: byte ");
		memory[i] ^= 1U << i % 8;
	}
}

/* Another page, or one that nobody has written, is not taken for the right. */
TEST(pages)
{
	char page[4096];

	fill();
	memcpy(page, memory + 4096, 4096);
	memmove(memory + 4096, memory + 8192, 4096);
	memcpy(memory + 8192, page, 4096);
	assert_int_equal(check(), -1);
	memset(memory, 0, SIZE);
	assert_int_equal(check(), -1);
	memset(memory, 'x', SIZE);
	assert_int_equal(check(), -1);
	assert_one_line(said.err, "byte 63 of the memory is 0x78 and should "
				  "be 0x00");
}
