/*
 * test_command_line.c - what all chapters' command lines have in common
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "options_test.h"

#define server(...) parse(ROLE_SERVER, SERVER_WORDS __VA_ARGS__)
#define client(...) parse(ROLE_CLIENT, CLIENT_WORDS __VA_ARGS__)

TEST(ports)
{
	static const char *const bad[] = { "0",
					   "65536",
					   "-1",
					   "abc",
					   "",
					   "7x",
					   "7 ",
					   "0x7",
					   "7.",
					   "1e3",
					   "99999999999999999999" };

	assert_accepted(server("-p", FIRST_PORT, NULL));
	assert_accepted(server("-p", "65535", NULL));
	assert_string_equal(options.port, "65535");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_refused(server("-p", bad[i], NULL), PORTS);
		assert_refused(client("-p", bad[i], NULL), PORTS);
		assert_non_null(strstr(said.err, bad[i]));
	}
}

TEST(timeouts)
{
	static const char *const bad[] = { "0", "3601", "-1", "abc",
					   "",	"1.5",	"10s" };

	assert_accepted(server("-t", "1", NULL));
	assert_int_equal(options.timeout_ms, 1000);
	assert_accepted(server("-t", "3600", NULL));
	assert_int_equal(options.timeout_ms, 3600000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(server("-t", bad[i], NULL), "1 to 3600");
}

TEST(last_one_counts)
{
	assert_accepted(server("-p", "7", "-p", "8", NULL));
	assert_string_equal(options.port, "8");
}

TEST(unknown)
{
	assert_refused(server("-Z", NULL), "error: -Z: no such option");
	assert_refused(client("-Z", NULL), "error: -Z: no such option");
	assert_refused(server("--nonsense", NULL), "--nonsense: no such");
	assert_refused(client("--nonsense=1", NULL), "--nonsense=1: no such");
	assert_refused(client("-1", NULL), "-1: no such option");
	assert_refused(client("--once", NULL), "no such option");
	/* Words that nobody asked for are not passed over. */
	assert_refused(server("some", "surplus", NULL), "error: s");
	assert_refused(client("some", "surplus", NULL), "error: s");
}

TEST(missing_value)
{
	static const char *const both[] = {
		"-a", "-p", "-t", "--address", "--port", "--timeout"
	};
	char part[64];

	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++) {
		snprintf(part, sizeof(part), "error: %s: needs a value",
			 both[i]);
		assert_refused(server(both[i], NULL), part);
		assert_refused(client(both[i], NULL), part);
	}
}

TEST(surplus_value)
{
	assert_refused(server("--once=yes", NULL), "--once=yes: takes no");
	assert_refused(server("--help=yes", NULL), "--help=yes: takes no");
	/* Beside it, an unknown letter is still called by its name. */
	assert_refused(server("--port=7", "-Z1", NULL), "error: -Z: no such");
	assert_refused(server("--port=7", "-:", NULL), "error: -:: no such");
}

TEST(address_missing)
{
	assert_refused(parse(ROLE_CLIENT, NULL), "address is missing");
	assert_one_line(said.err, "-a 192.0.2.1");
	assert_refused(parse(ROLE_CLIENT, "-p", "7", NULL), "-a 192.0.2.1");
}

TEST(defaults)
{
	assert_accepted(server(NULL));
	assert_string_equal(options.port, DEFAULT_PORT);
	assert_int_equal(options.timeout_ms, 10000);
	assert_accepted(client(NULL));
	assert_string_equal(options.port, DEFAULT_PORT);
	assert_int_equal(options.timeout_ms, 10000);
}

/* Every option of the role, its default, and an example. */
TEST(help)
{
	static const char *const both[] = { "-a, --address", "-p, --port",
					    "-t, --timeout", "-h, --help",
					    PORTS,	     DEFAULT_PORT,
					    "default: 10",   "example: ./" };

	for (int role = ROLE_SERVER; role <= ROLE_CLIENT; role++) {
		assert_int_equal(parse(role, "-h", NULL), EXIT_DONE);
		assert_string_equal(said.err, "");
		for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
			assert_non_null(strstr(said.out, both[i]));
		assert_int_equal(strstr(said.out, "--once") != NULL,
				 role == ROLE_SERVER);
	}
	assert_int_equal(parse(ROLE_CLIENT, "--help", NULL), EXIT_DONE);
}
