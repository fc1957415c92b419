/*
 * test_02_options.c - the command line of chapter 02
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "options_test.h"

#define server(...) parse(ROLE_SERVER, __VA_ARGS__)
#define client(...) parse(ROLE_CLIENT, "-a", "node", __VA_ARGS__)

TEST(defaults)
{
	assert_accepted(server("write", NULL));
	assert_null(options.address);
	assert_string_equal(options.port, "22222");
	assert_int_equal(options.timeout_ms, 10000);
	assert_false(options.once);
	/* A server answers, a client begins. */
	assert_false(options.first);
	assert_accepted(client("read", NULL));
	assert_string_equal(options.address, "node");
	assert_string_equal(options.port, "22222");
	assert_int_equal(options.timeout_ms, 10000);
	assert_true(options.first);
	assert_false(options.counts);
	assert_accepted(client("-b", "1024", "read", NULL));
	assert_true(options.counts);
}

TEST(order)
{
	assert_accepted(server("-o", "first", "write", NULL));
	assert_true(options.first);
	assert_accepted(client("--order=answer", "write", NULL));
	assert_false(options.first);
	assert_refused(server("-o", "second", "write", NULL),
		       "-o second: it is one of first|answer");
	assert_refused(server("-o", NULL), "-o: needs a value");
}

TEST(other_role)
{
	assert_refused(server("-n", "1", NULL), "-n: no such option");
	assert_refused(client("--count", "1", NULL), "no such option");
	assert_refused(client("-q", "1", "write", NULL), "-q: no such option");
	assert_refused(client("-c", "write", NULL), "-c: no such option");
	assert_refused(client("-w", "inline", "write", NULL), "-w: no such");
	assert_refused(client("-1", "write", NULL), "-1: no such option");
	assert_refused(client("-x", "write", NULL), "error: -x: no such");
	assert_refused(client("--nonsense", "write", NULL), "--nonsense: no");
}

TEST(common)
{
	assert_accepted(server("-a", "192.0.2.1", "-p", "65535", "-t", "3600",
			       "-1", "write", NULL));
	assert_string_equal(options.address, "192.0.2.1");
	assert_string_equal(options.port, "65535");
	assert_int_equal(options.timeout_ms, 3600000);
	assert_true(options.once);
	assert_refused(server("-p", "0", "write", NULL), "1 to 65535");
	assert_refused(client("-p", "abc", "write", NULL), "1 to 65535");
	assert_refused(server("-t", "0", "write", NULL), "1 to 3600");
	assert_refused(server("--once=yes", "write", NULL), "takes no value");
	assert_refused(parse(ROLE_CLIENT, "write", NULL), "-a 192.0.2.1");
}

/* Every option of the role, its default and its bounds, and an example. */
TEST(help)
{
	static const char *const both[] = { "-a, --address", "-p, --port",
					    "-t, --timeout", "-o, --order",
					    "-h, --help",    "write|read",
					    "1 to 65535",    "22222",
					    "default: 10",   "example: ./",
					    "-b, --bytes",   "64 to 67108864",
					    "default: 1024" };

	for (int role = ROLE_SERVER; role <= ROLE_CLIENT; role++) {
		assert_int_equal(parse(role, "-h", NULL), EXIT_DONE);
		assert_string_equal(said.err, "");
		for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
			assert_non_null(strstr(said.out, both[i]));
		assert_int_equal(strstr(said.out, "--once") != NULL,
				 role == ROLE_SERVER);
	}
}
