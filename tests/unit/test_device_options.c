/*
 * test_device_options.c - by hand: which device, port and GID, and which PSN
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "options_test.h"

#define server(...) parse(ROLE_SERVER, SERVER_WORDS __VA_ARGS__)
#define client(...) parse(ROLE_CLIENT, CLIENT_WORDS __VA_ARGS__)

TEST(port_number)
{
	static const char *const bad[] = { "0",	  "256", "-1",	      "",
					   "abc", "1x",	 "0x1",	      "1.",
					   "2 ",  "257", "4294967297" };

	assert_accepted(server("-i", "1", NULL));
	assert_int_equal(options.port_num, 1);
	assert_accepted(server("-i", "255", NULL));
	assert_int_equal(options.port_num, 255);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(client("-i", bad[i], NULL),
			       "give a whole number from 1 to 255");
}

TEST(gid_index)
{
	static const char *const bad[] = { "256", "-1", "",
					   "x",	  "1 ", "4294967296" };

	/* 0 is an index like any other, not "none given". */
	assert_accepted(client(GID_INDEX, "0", NULL));
	assert_int_equal(options.gid_index, 0);
	assert_accepted(server(GID_INDEX, "255", NULL));
	assert_int_equal(options.gid_index, 255);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(server(GID_INDEX, bad[i], NULL),
			       "give a whole number from 0 to 255");
}

static int32_t psn(const char *text)
{
	assert_accepted(client("--psn", text, NULL));
	return options.psn;
}

TEST(psn)
{
	static const char *const bad[] = {
		"0x1000000",  "16777216",
		"-1",	      "",
		"0x",	      "psn",
		"12 3",	      "0x12345g",
		" -1",	      "-0",
		"1e3",	      "0x100000000",
		"4294967296", "99999999999999999999999"
	};

	/* 0 is a PSN like any other, not "none given". */
	assert_int_equal(psn("0"), 0);
	assert_int_equal(psn("0xffffff"), 0xffffff);
	assert_int_equal(psn("16777215"), 0xffffff);
	assert_int_equal(psn("0x789ABC"), 0x789abc);
	assert_int_equal(psn("1"), 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_refused(server("-P", bad[i], NULL),
			       "give a number from 0 to");
		assert_one_line(said.err, "0 to 0xffffff");
	}
}

/* Without these options nothing is asked for, which is 0. */
TEST(network)
{
	static const struct network nothing;

	assert_accepted(client(NULL));
	assert_memory_equal(&options.network, &nothing, sizeof(nothing));
	assert_accepted(server("-S", "15", "-Q", "104", "-I", "2", "-M", "1024",
			       "-E", "18", "-N", "7", NULL));
	assert_int_equal(options.network.service_level, 15);
	assert_int_equal(options.network.traffic_class, 104);
	assert_int_equal(options.network.pkey_index, 2);
	assert_int_equal(options.network.mtu, IBV_MTU_1024);
	assert_int_equal(options.network.ack_timeout, 18);
	assert_int_equal(options.network.retry_count, 7);
	assert_accepted(client("--mtu", "256", NULL));
	assert_int_equal(options.network.mtu, IBV_MTU_256);
	assert_accepted(client("--mtu", "4096", NULL));
	assert_int_equal(options.network.mtu, IBV_MTU_4096);
	assert_refused(client("-S", "16", NULL), "from 0 to 15");
	assert_refused(client("-Q", "256", NULL), "from 0 to 255");
	assert_refused(client("-I", "65536", NULL), "from 0 to 65535");
	assert_refused(client("-M", "1500", NULL), "one of port|256");
	assert_refused(client("-E", "32", NULL), "from 1 to 31");
	assert_refused(client("-E", "0", NULL), "from 1 to 31");
	assert_refused(client("-N", "8", NULL), "from 1 to 7");
	assert_refused(client("-N", "0", NULL), "from 1 to 7");
}

TEST(values_missing)
{
	static const char *const options_with_value[] = {
		"-d",	    "-i",	 GID_INDEX,	"-P",
		"--device", "--ib-port", "--gid-index", "--psn"
	};

	for (size_t i = 0; i < 8; i++)
		assert_refused(server(options_with_value[i], NULL),
			       "needs a value");
}
