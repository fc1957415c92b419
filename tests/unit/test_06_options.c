/*
 * test_06_options.c - the command line of chapter 06
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include <linux/rds.h>

#include "options_test.h"

#define server(...) parse(ROLE_SERVER, __VA_ARGS__, NULL)
#define client(...) parse(ROLE_CLIENT, "-a", "node", __VA_ARGS__, NULL)

TEST(defaults)
{
	assert_accepted(parse(ROLE_CLIENT, "-a", "node", NULL));
	assert_int_equal(options.address_count, 1);
	assert_string_equal(options.addresses[0], "node");
	assert_string_equal(options.port, "4000");
	assert_null(options.local);
	assert_int_equal(options.transport, (int)RDS_TRANS_NONE);
	assert_int_equal(options.work, WORK_TALK);
	assert_int_equal(options.timeout_ms, 10000);
	assert_false(options.once);
	assert_false(options.wait);
}

TEST(values)
{
	assert_accepted(client("-a", "b:4001", "-b", "here", "-T", "ib", "-n",
			       "7", "-s", "12", "-x", "true", "-c", "count"));
	assert_int_equal(options.address_count, 2);
	assert_string_equal(options.addresses[1], "b:4001");
	assert_string_equal(options.local, "here");
	assert_int_equal(options.transport, RDS_TRANS_IB);
	assert_int_equal(options.count, 7);
	assert_int_equal(options.bytes, 12);
	assert_string_equal(options.command, "true");
	assert_true(options.csv);
	assert_int_equal(options.work, WORK_COUNT);
	assert_accepted(client("-k", "0x123456789", "write"));
	assert_int_equal(options.key, 0x123456789);
	assert_accepted(server("-a", "node", "--transport", "tcp", "-1", "-w"));
	assert_int_equal(options.transport, RDS_TRANS_TCP);
	assert_true(options.once);
	assert_true(options.wait);
}

TEST(every_work)
{
	static const struct {
		const char *word;
		enum work work;
	} words[] = {
		{ "talk", WORK_TALK },	     { "count", WORK_COUNT },
		{ "congest", WORK_CONGEST }, { "fill", WORK_FILL },
		{ "write", WORK_WRITE },     { "bench", WORK_BENCH },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_accepted(client(words[i].word));
		assert_int_equal(options.work, words[i].work);
	}
}

TEST(refused)
{
	assert_refused(parse(ROLE_CLIENT, NULL), "an address is missing");
	assert_refused(parse(ROLE_SERVER, "-1", NULL), "an address is missing");
	assert_refused(server("-a", "one", "-a", "two"), "at most 1");
	assert_refused(client("-a", "1", "-a", "2", "-a", "3", "-a", "4", "-a",
			      "5", "-a", "6", "-a", "7", "-a", "8"),
		       "at most 8");
	assert_refused(client("-T", "udp"), "it is one of tcp|ib");
	assert_refused(client("-p", "0"), "from 2 to 65535");
	/* bind(2) would refuse it, and one would look for the fault there. */
	assert_refused(server("-a", "node", "-p", "1"), "from 2 to 65535");
	assert_refused(client("-p", "65536"), "from 2 to 65535");
	assert_refused(client("-s", "2097153"), "to 2097152");
	assert_refused(client("-n", "10000001"), "to 10000000");
	assert_refused(client("-t", "3601"), "from 1 to 3600");
	assert_refused(client("-s", "11"), "from 12 to");
	assert_refused(client("-n", "0"), "from 1 to");
	assert_refused(client("-t", "x"), "from 1 to 3600");
	assert_refused(client("sing"), "nothing that can be done");
	assert_refused(client("talk", "more"), "not an option");
	/* A word where the address should be. */
	assert_refused(server("192.0.2.1"), "with -a, as in");
	assert_refused(client("-k", "0"), "not 0");
	assert_refused(client("-k", "-1"), "64 bits");
	assert_refused(client("-k", "0x10000000000000000"), "64 bits");
	assert_refused(client("-w"), "no such option");
	assert_refused(server("-a", "node", "-n", "1"), "no such option");
	assert_refused(server("-a", "node", "talk"), "not an option");
	assert_refused(client("-b"), "needs a value");
	assert_refused(client("--csv=1"), "takes no value");
}

/* The first and the last that are allowed. */
TEST(ends)
{
	assert_accepted(server("-a", "node", "-p", "2", "-t", "1"));
	assert_string_equal(options.port, "2");
	assert_int_equal(options.timeout_ms, 1000);
	assert_accepted(client("-p", "65535", "-t", "3600", "-n", "10000000",
			       "-s", "2097152"));
	assert_string_equal(options.port, "65535");
	assert_int_equal(options.timeout_ms, 3600000);
	assert_int_equal(options.count, 10000000);
	assert_int_equal(options.bytes, 2 << 20);
	assert_accepted(client("-k", "0xffffffffffffffff", "-n", "1"));
	assert_true(options.key == UINT64_MAX);
}

TEST(help)
{
	assert_int_equal(parse(ROLE_SERVER, "-h", NULL), EXIT_DONE);
	assert_non_null(strstr(said.out, "usage: ./server -a ADDRESS"));
	assert_int_equal(parse(ROLE_CLIENT, "-h", NULL), EXIT_DONE);
	assert_non_null(strstr(said.out, "usage: ./client -a ADDRESS"));
	assert_string_equal(said.err, "");
}
