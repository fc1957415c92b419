/*
 * test_work_options.c - what a program shall do, write or read, and to how much
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "options_test.h"

#define server(...) parse(ROLE_SERVER, __VA_ARGS__)
#define client(...) parse(ROLE_CLIENT, "-a", "node", __VA_ARGS__)

TEST(mode)
{
	assert_accepted(server("write", NULL));
	assert_int_equal(options.mode, MODE_WRITE);
	assert_accepted(server("read", NULL));
	assert_int_equal(options.mode, MODE_READ);
	assert_accepted(client("write", NULL));
	assert_int_equal(options.mode, MODE_WRITE);
	/* Before, between or after the options. */
	assert_accepted(server("read", "-p", "7", NULL));
	assert_int_equal(options.mode, MODE_READ);
	assert_string_equal(options.port, "7");
	assert_accepted(server("--", "write", NULL));
	assert_int_equal(options.mode, MODE_WRITE);
}

TEST(bad_mode)
{
	static const char *const bad[] = { "", "Write", "writes", "r",
					   "benchmark" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_refused(server(bad[i], NULL), "write or read");
		assert_refused(client(bad[i], NULL), "write or read");
	}
	assert_refused(server(NULL), "last word must be write or read");
	assert_refused(client(NULL), "last word must be write or read");
	assert_refused(server("write", "read", NULL), "read: one word too");
	assert_refused(client("read", "read", NULL), "read: one word too");
}

/* The bounds are in, what is beside them is not. */
TEST(bytes)
{
	static const char *const bad[] = { "63",
					   "67108865",
					   "0",
					   "-1",
					   "",
					   "abc",
					   "64x",
					   "64 ",
					   "1.",
					   "0x80",
					   "1e3",
					   "4294967360",
					   "99999999999999999999" };

	assert_accepted(server("write", NULL));
	assert_int_equal(options.bytes, 1024);
	assert_accepted(client("read", NULL));
	assert_int_equal(options.bytes, 1024);
	assert_accepted(server("-b", "64", "write", NULL));
	assert_int_equal(options.bytes, 64);
	assert_accepted(client("--bytes=67108864", "read", NULL));
	assert_int_equal(options.bytes, MSG_MAX_LENGTH);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_refused(server("-b", bad[i], "write", NULL),
			       "from 64 to 67108864");
		assert_refused(client("-b", bad[i], "write", NULL),
			       "from 64 to 67108864");
	}
}
