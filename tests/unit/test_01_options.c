/*
 * test_01_options.c - the command line of chapter 01
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "options_test.h"

#define server(...) parse(ROLE_SERVER, __VA_ARGS__)
#define client(...) parse(ROLE_CLIENT, __VA_ARGS__)

TEST(server_defaults)
{
	assert_accepted(server(NULL));
	assert_null(options.address);
	assert_string_equal(options.port, "20886");
	assert_int_equal(options.timeout_ms, 10000);
	assert_false(options.once);
	assert_null(options.text);
}

TEST(client_defaults)
{
	assert_accepted(client("-a", "192.0.2.1", NULL));
	assert_string_equal(options.address, "192.0.2.1");
	assert_string_equal(options.port, "20886");
	assert_int_equal(options.timeout_ms, 10000);
	assert_null(options.text);
}

static void assert_all_set(void)
{
	assert_string_equal(options.address, "node");
	assert_string_equal(options.port, "7");
	assert_int_equal(options.timeout_ms, 3000);
}

TEST(server_all)
{
	assert_accepted(server("-a", "node", "-p", "7", "-t", "3", "-1", NULL));
	assert_all_set();
	assert_true(options.once);
	assert_accepted(server("--address", "node", "--port=7", "--timeout",
			       "3", "--once", NULL));
	assert_all_set();
	assert_true(options.once);
}

TEST(client_all)
{
	assert_accepted(
		client("-a", "node", "-p", "7", "-t", "3", "-s", "text", NULL));
	assert_all_set();
	assert_string_equal(options.text, "text");
	assert_accepted(client("--address=node", "--port", "7", "--timeout=3",
			       "--send", "text", NULL));
	assert_all_set();
	assert_string_equal(options.text, "text");
}

TEST(grouped)
{
	assert_accepted(server("-1p7", "-t3", NULL));
	assert_true(options.once);
	assert_string_equal(options.port, "7");
	assert_int_equal(options.timeout_ms, 3000);
	assert_refused(server("-1x", NULL), "error: -x: no such option");
	assert_refused(server("-1p", NULL), "-1p: needs a value");
}

TEST(text_length)
{
	char text[1026];

	memset(text, 'x', sizeof(text));
	text[1024] = 0;
	assert_accepted(client("-a", "node", "-s", text, NULL));
	assert_int_equal(strlen(options.text), 1024);
	text[1024] = 'x';
	text[1025] = 0;
	assert_refused(client("-a", "node", "-s", text, NULL), "1025 bytes");
	assert_non_null(strstr(said.err, "1024"));
	assert_accepted(client("-a", "node", "-s", "", NULL));
	assert_string_equal(options.text, "");
}

/* What counts is bytes, not characters: each of these has three. */
TEST(text_length_utf8)
{
	char text[342 * 3 + 1] = "";

	for (int i = 0; i < 342; i++)
		memcpy(text + 3 * i, "信", 4);
	assert_refused(client("-a", "node", "-s", text, NULL), "1026 bytes");
	text[341 * 3] = 0;
	assert_accepted(client("-a", "node", "-s", text, NULL));
}

TEST(unknown)
{
	assert_refused(server("-x", NULL), "error: -x: no such option");
	assert_refused(server("--nonsense", NULL),
		       "error: --nonsense: no such");
	assert_refused(server("--nonsense=1", NULL), "--nonsense=1: no such");
	assert_refused(client("-a", "node", "-x", NULL), "-x: no such option");
	assert_refused(server("surplus", NULL), "surplus: not an option");
	assert_refused(client("-a", "node", "surplus", NULL), "surplus: not");
	/* A word where the address should be. */
	assert_refused(client("192.0.2.1", NULL), "with -a, as in");
	assert_refused(server("--", "-1", NULL), "-1: not an option");
}

TEST(other_role)
{
	assert_refused(server("-s", "text", NULL), "-s: no such option");
	assert_refused(server("--send", "text", NULL), "no such option");
	assert_refused(client("-a", "node", "-1", NULL), "-1: no such option");
	assert_refused(client("-a", "node", "--once", NULL), "no such option");
}

/* Every option of the role, its default, and an example. */
TEST(help)
{
	static const char *const both[] = {
		"-a",	      "--address",	"-p",	       "--port",
		"-t",	      "--timeout",	"-h",	       "--help",
		"1 to 65535", "default: 20886", "default: 10", "example: ./"
	};

	for (int role = ROLE_SERVER; role <= ROLE_CLIENT; role++) {
		assert_int_equal(parse(role, "-h", NULL), EXIT_DONE);
		assert_string_equal(said.err, "");
		for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
			assert_non_null(strstr(said.out, both[i]));
		assert_int_equal(strstr(said.out, "--once") != NULL,
				 role == ROLE_SERVER);
		assert_int_equal(strstr(said.out, "--send") != NULL,
				 role == ROLE_CLIENT);
	}
	assert_int_equal(client("--help", NULL), EXIT_DONE);
}
