/*
 * test_04_options.c - what chapter 04 adds to the command line of chapter 03
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "options_test.h"

#define server(...) parse(ROLE_SERVER, __VA_ARGS__, NULL)
#define client(...) parse(ROLE_CLIENT, "-a", "node", __VA_ARGS__, NULL)

static void assert_files(const char *cert, const char *key, const char *ca)
{
	assert_string_equal(options.cert, cert);
	assert_string_equal(options.key, key);
	assert_string_equal(options.ca, ca);
}

TEST(defaults)
{
	assert_accepted(server("write"));
	assert_files("certs/server.pem", "certs/server.key", "certs/ca.pem");
	assert_string_equal(options.port, "4433");
	assert_accepted(client("read"));
	assert_files("certs/client.pem", "certs/client.key", "certs/ca.pem");
	assert_int_equal(options.psn, -1);
}

TEST(files)
{
	assert_accepted(server("-C", "a", "-K", "b", "-A", "c", "write"));
	assert_files("a", "b", "c");
	assert_accepted(client("--cert", "d", "--key", "e", "--ca=f", "read"));
	assert_files("d", "e", "f");
	assert_refused(client("write", "--ca"), "--ca: needs a value");
}
