/*
 * test_01_text.c - what is made of text that a peer has sent
 */
#include "log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "test.h"

/* What log_text() makes of length bytes, or of a string. */
static void assert_shown(const char *bytes, size_t length, const char *shown)
{
	char *copy = malloc(length ? length : 1);
	char expected[CAPTURE_SIZE];

	/* Exactly as long, so that a byte too far is an error. */
	assert_non_null(copy);
	memcpy(copy, bytes, length);
	CAPTURE(log_text("got: ", copy, length));
	free(copy);
	snprintf(expected, sizeof(expected), "got: %s\n", shown);
	assert_string_equal(said.out, expected);
	assert_int_equal(said.out_length, strlen(expected));
	assert_string_equal(said.err, "");
}

#define assert_literal_shown(bytes, shown) \
	assert_shown(bytes, sizeof(bytes) - 1, shown)

/* A peer that sends its whole buffer: the screen is not for its zeros. */
TEST(text_zeros)
{
	char whole[1024] = "message";

	assert_shown(whole, sizeof(whole), "message (and 1017 zero bytes)");
	assert_shown(whole + 7, 1017, " (and 1017 zero bytes)");
	assert_literal_shown("a\0\0\0\0\0\0\0b",
			     "a\\x00\\x00\\x00\\x00\\x00\\x00\\x00b");
	assert_literal_shown("a\0\0\0\0\0\0\0\0b", "a (and 8 zero bytes)b");
	assert_shown(whole, 15, "message (and 8 zero bytes)");
}

/* U+0080 to U+009F control a terminal too: U+009B is ESC [. */
TEST(text_c1)
{
	assert_literal_shown("\xc2\x9b"
			     "31m",
			     "\\xc2\\x9b31m");
	assert_literal_shown("\xc2\x80", "\\xc2\\x80");
	assert_literal_shown("\xc2\x85", "\\xc2\\x85");
}

static char changing[512];
static atomic_bool enough;

static void *change(void *arg)
{
	volatile char *byte = changing;

	while (!enough)
		for (size_t i = 0; i < sizeof(changing); i++)
			byte[i] = byte[i] == 'A' ? '\x1b' : 'A';
	return arg;
}

/* A peer may write to what is printed: each byte is looked at but once. */
TEST(text_that_changes)
{
	bool escaped = false;
	pthread_t thread;

	memset(changing, 'A', sizeof(changing));
	assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
	for (int i = 0; i < 300 && !escaped; i++) {
		CAPTURE(log_text("got: ", changing, sizeof(changing)));
		escaped = memchr(said.out, '\x1b', said.out_length);
	}
	enough = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(escaped);
}

/* A peer decides how long a text is: what no line has room for is not looked at. */
TEST(text_longer_than_a_line)
{
	size_t half = 65536;
	char *text = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(text != MAP_FAILED);
	memset(text, 'x', half);
	assert_int_equal(mprotect(text + half, half, PROT_NONE), 0);
	CAPTURE(log_text("got: ", text, 2 * half));
	assert_memory_equal(said.out, "got: xxxx", 9);
	assert_int_equal(munmap(text, 2 * half), 0);
}

/* No byte, alone or between two letters, reaches a terminal unprintable. */
TEST(text_each_byte)
{
	char expected[32], bytes[3] = "a.b";

	for (int c = 0; c < 256; c++) {
		bytes[1] = (char)c;
		if (c >= 0x20 && c < 0x7f)
			snprintf(expected, sizeof(expected), "a%cb", c);
		else
			snprintf(expected, sizeof(expected), "a\\x%02xb", c);
		assert_shown(bytes, 3, expected);
	}
}

/* Not every call that fails sets errno. */
TEST(fail_without_errno)
{
	assert_int_equal(
		CAPTURED(log_fail_errno("ibv_poll_cq", 0, "give %s", "up")),
		-1);
	assert_string_equal(said.err, "error: ibv_poll_cq: failed without "
				      "saying why; give up\n");
}
