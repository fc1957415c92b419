/*
 * test_log.c - what is said, and how failures are named (text of the peer
 * is in test_text.c)
 */
#include "log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/asan_interface.h>

#include "log_wc.h"
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

/* Every status is named by number and name, and something is said of it. */
TEST(fail_wc)
{
	char part[128], names[IBV_WC_TM_RNDV_INCOMPLETE + 1][CAPTURE_SIZE];

	for (int i = 1; i <= IBV_WC_TM_RNDV_INCOMPLETE; i++) {
		struct ibv_wc wc = { .status = i };
		int ret;

		ret = CAPTURED(log_fail_wc("receive", &wc));
		assert_int_equal(ret, -1);
		assert_string_equal(said.out, "");
		snprintf(part, sizeof(part),
			 "error: receive: status %d (%s): ", i,
			 ibv_wc_status_str(i));
		assert_one_line(said.err, part);
		assert_true(said.err_length > strlen(part) + 10);
		strcpy(names[i], said.err + strlen(part));
	}
	/* Those that a reader meets have an explanation of their own. */
	assert_non_null(strstr(names[IBV_WC_LOC_LEN_ERR], "longer"));
	assert_non_null(strstr(names[IBV_WC_WR_FLUSH_ERR], "error state"));
	assert_non_null(strstr(names[IBV_WC_REM_ACCESS_ERR], "rkey"));
	assert_non_null(strstr(names[IBV_WC_RETRY_EXC_ERR], "acknowledge"));
	assert_non_null(strstr(names[IBV_WC_RNR_RETRY_EXC_ERR], "no receive"));
	assert_non_null(strstr(names[IBV_WC_LOC_PROT_ERR], "lkey"));
	assert_non_null(strstr(names[IBV_WC_REM_INV_REQ_ERR], "invalid"));
}

/* In a failed completion, opcode and byte_len hold nothing. */
TEST(fail_wc_reads_what_is_defined)
{
	struct ibv_wc *wc = calloc(1, sizeof(*wc));

	assert_non_null(wc);
	wc->status = IBV_WC_WR_FLUSH_ERR;
	/* From here on a read of these fields ends the program. */
	ASAN_POISON_MEMORY_REGION(&wc->opcode, sizeof(wc->opcode));
	ASAN_POISON_MEMORY_REGION(&wc->byte_len, sizeof(wc->byte_len));
	CAPTURE(log_fail_wc("send", wc));
	ASAN_UNPOISON_MEMORY_REGION(wc, sizeof(*wc));
	free(wc);
	assert_one_line(said.err, "error: send: status 5 (");
}
