/*
 * test_05_options.c - what chapter 05 adds to the command line of chapter 04
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "options_test.h"

#define server(...) parse(ROLE_SERVER, __VA_ARGS__, NULL)
#define client(...) parse(ROLE_CLIENT, "-a", "node", __VA_ARGS__, NULL)

TEST(server)
{
	assert_accepted(server("write"));
	assert_int_equal(options.max, 1024);
	assert_int_equal(options.grace, 10);
	assert_int_equal(options.end_after, 0);
	assert_accepted(server("-m", "3", "-G", "0", "-e", "7", "write"));
	assert_int_equal(options.max, 3);
	assert_int_equal(options.grace, 0);
	assert_int_equal(options.end_after, 7);
	assert_accepted(server("--once", "read"));
	assert_int_equal(options.end_after, 1);
	assert_refused(server("-m", "0", "write"), "-m 0: give a whole number");
	assert_refused(server("-w", "2", "write"), "-w: no such option");
}

TEST(client)
{
	assert_accepted(client("write"));
	assert_int_equal(options.hold, 0);
	assert_int_equal(options.retries, 0);
	assert_accepted(client("-w", "7", "-r8", "-g", "255", "write"));
	assert_int_equal(options.hold, 7);
	assert_int_equal(options.retries, 8);
	assert_int_equal(options.gid_index, 255);
	assert_refused(client("-w", "3601", "write"),
		       "-w 3601: give a whole number from 0 to 3600");
	assert_refused(client("-r", "many", "write"), "-r many: give a whole");
	assert_refused(client("-n", "2", "write"), "-n: no such option");
	assert_refused(client("-m", "2", "write"), "-m: no such option");
}

/* A PSN that is given is one connection's. */
TEST(psn)
{
	assert_accepted(server("-P", "0x123456", "-1", "write"));
	assert_int_equal(options.psn, 0x123456);
	assert_accepted(server("-e", "1", "-P", "0", "write"));
	assert_int_equal(options.psn, 0);
	assert_refused(server("-P", "0", "write"), "give -1 with it");
	assert_refused(server("-P", "7", "-e", "2", "write"), "give -1 with");
	assert_accepted(client("-P", "7", "-r", "3", "write"));
}
