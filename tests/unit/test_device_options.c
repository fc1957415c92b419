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

static void test_port_number(void **state)
{
	static const char *const bad[] = { "0",	  "256", "-1",	      "",
					   "abc", "1x",	 "0x1",	      "1.",
					   "2 ",  "257", "4294967297" };

	(void)state;
	assert_accepted(server("-i", "1", NULL));
	assert_int_equal(options.port_num, 1);
	assert_accepted(server("-i", "255", NULL));
	assert_int_equal(options.port_num, 255);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(client("-i", bad[i], NULL),
			       "give a whole number from 1 to 255");
}

static void test_gid_index(void **state)
{
	static const char *const bad[] = { "256", "-1", "",
					   "x",	  "1 ", "4294967296" };

	(void)state;
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

static void test_psn(void **state)
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

	(void)state;
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

static void test_values_missing(void **state)
{
	static const char *const options_with_value[] = {
		"-d",	    "-i",	 GID_INDEX,	"-P",
		"--device", "--ib-port", "--gid-index", "--psn"
	};

	(void)state;
	for (size_t i = 0; i < 8; i++)
		assert_refused(server(options_with_value[i], NULL),
			       "needs a value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port_number),
		cmocka_unit_test(test_gid_index),
		cmocka_unit_test(test_psn),
		cmocka_unit_test(test_values_missing),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
