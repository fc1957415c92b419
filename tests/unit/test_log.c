/*
 * test_log.c - what is said, and how failures are named (text of the peer
 * is in test_text.c)
 */
#include "log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

/* A line must have left the buffer when log_line() returns. */
TEST(line_is_flushed)
{
	char text[64] = "";
	FILE *file;

	capture_start();
	log_line("one");
	log_text("two: ", "2", 1);
	/* The same file, by another descriptor: what has been written? */
	file = fopen("/proc/self/fd/1", "r");
	if (file) {
		text[fread(text, 1, sizeof(text) - 1, file)] = 0;
		fclose(file);
	}
	capture_stop(&said);
	assert_string_equal(text, "one\ntwo: 2\n");
}

/* Only the story can be hushed. */
static int hushed(void)
{
	log_hush(true);
	log_line("the story of one of many");
	log_text("its bytes: ", "abc", 3);
	log_fail("a failure");
	log_hush(false);
	log_line("the story of all");
	return 0;
}

TEST(hush)
{
	CAPTURED(hushed());
	assert_string_equal(said.out, "the story of all\n");
	assert_string_equal(said.err, "error: a failure\n");
}

TEST(fail_errno)
{
	int ret;

	ret = CAPTURED(log_fail_errno("ibv_call", ENOMEM, "try %s", "less"));
	assert_int_equal(ret, -1);
	assert_string_equal(said.err, "error: ibv_call: Cannot allocate "
				      "memory; try less\n");
	assert_string_equal(said.out, "");

	ret = CAPTURED(log_fail_errno("ibv_poll_cq", 0, "give up"));
	assert_int_equal(ret, -1);
	assert_string_equal(said.err, "error: ibv_poll_cq: failed without "
				      "saying why; give up\n");
}
