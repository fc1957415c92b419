/*
 * test_03_options.c - the command line of chapter 03
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "options_test.h"

#define server(...) parse(ROLE_SERVER, __VA_ARGS__)
#define client(...) parse(ROLE_CLIENT, "-a", "node", __VA_ARGS__)

static void assert_found_by_itself(void)
{
	assert_null(options.device);
	assert_int_equal(options.port_num, 0);
	assert_int_equal(options.gid_index, -1);
	assert_int_equal(options.psn, -1);
}

TEST(defaults)
{
	assert_accepted(server("write", NULL));
	assert_null(options.address);
	assert_string_equal(options.port, "18515");
	assert_int_equal(options.timeout_ms, 10000);
	assert_false(options.once);
	assert_found_by_itself();
	assert_accepted(client("read", NULL));
	assert_string_equal(options.port, "18515");
	assert_int_equal(options.mode, MODE_READ);
	assert_false(options.counts);
	assert_accepted(client("-b", "1024", "read", NULL));
	assert_true(options.counts);
	assert_found_by_itself();
}

static void assert_device(void)
{
	assert_string_equal(options.device, "rxe7");
	assert_int_equal(options.port_num, 2);
	assert_int_equal(options.gid_index, 3);
	assert_int_equal(options.psn, 0x123456);
}

TEST(device)
{
	assert_accepted(server("-d", "rxe7", "-i", "2", "-g", "3", "-P",
			       "0x123456", "write", NULL));
	assert_device();
	assert_accepted(
		client("-drxe7", "-i2", "-g3", "-P1193046", "write", NULL));
	assert_device();
	assert_accepted(server("--device=rxe7", "--ib-port=2", "--gid-index=3",
			       "--psn=0x123456", "write", NULL));
	assert_device();
	assert_accepted(client("--device", "rxe7", "--ib-port", "2",
			       "--gid-index", "3", "--psn", "0x123456", "read",
			       NULL));
	assert_device();
	assert_int_equal(options.mode, MODE_READ);
}

/* The other chapters' options are not of this one. */
TEST(unknown)
{
	assert_refused(server("-o", "first", "write", NULL), "-o: no such");
	assert_refused(client("--order=first", "write", NULL), "no such");
	assert_refused(client("-n", "5", NULL), "-n: no such option");
	assert_refused(client("-1", "write", NULL), "-1: no such option");
	assert_refused(client("-s", "text", "write", NULL), "-s: no such");
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
	assert_refused(client("-p", "65536", "write", NULL), "18515");
	assert_refused(client("-t", "0", "write", NULL), "1 to 3600");
	assert_refused(server("--once=yes", "write", NULL), "takes no value");
	assert_refused(parse(ROLE_CLIENT, "write", NULL), "-a 192.0.2.1");
	assert_refused(server(NULL), "last word must be write or read");
	assert_refused(server("both", NULL), "both: the mode is write or read");
	assert_refused(client("write", "read", NULL), "read: one word too");
}

/* Every option of the role, its default and its bounds, and an example. */
TEST(help)
{
	static const char *const both[] = { "-a, --address",  "-p, --port",
					    "-t, --timeout",  "-d, --device",
					    "-i, --ib-port",  "-g, --gid-index",
					    "-P, --psn",      "-h, --help",
					    "write|read",     "1 to 65535",
					    "default: 18515", "default: 10",
					    "0 to 0xffffff",  "a random",
					    "active",	      "v2",
					    "-b, --bytes",    "default: 1024",
					    "example: ./" };

	for (int role = ROLE_SERVER; role <= ROLE_CLIENT; role++) {
		assert_int_equal(parse(role, "-h", NULL), EXIT_DONE);
		assert_string_equal(said.err, "");
		for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
			assert_non_null(strstr(said.out, both[i]));
		assert_int_equal(strstr(said.out, "--once") != NULL,
				 role == ROLE_SERVER);
	}
}
