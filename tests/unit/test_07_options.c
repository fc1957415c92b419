/*
 * test_07_options.c - the command line of chapter 07
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "options_test.h"
#include "pump.h"

#define server(...) parse(ROLE_SERVER, __VA_ARGS__)
#define client(...) parse(ROLE_CLIENT, "-a", "node", __VA_ARGS__)

TEST(defaults)
{
	assert_accepted(server(NULL));
	assert_null(options.address);
	assert_string_equal(options.port, "22227");
	assert_int_equal(options.timeout_ms, 10000);
	assert_int_equal(options.depth, 64);
	assert_null(options.directory);
	assert_false(options.once);
	assert_accepted(client("send", "a", NULL));
	assert_string_equal(options.address, "node");
	assert_string_equal(options.port, "22227");
	assert_int_equal(options.depth, 64);
	assert_int_equal(options.bytes, 65536);
	assert_int_equal(options.tries, 0);
	assert_int_equal(options.count, 0);
}

TEST(files)
{
	assert_accepted(client("read", "a", "-R", "3", "b", "--", "-c", NULL));
	assert_int_equal(options.mode, MODE_READ);
	assert_int_equal(options.tries, 3);
	assert_int_equal(options.file_count, 3);
	assert_string_equal(options.files[0], "a");
	assert_string_equal(options.files[1], "b");
	assert_string_equal(options.files[2], "-c");
	assert_false(options.csv);
	assert_accepted(client("write", "a", NULL));
	assert_int_equal(options.mode, MODE_WRITE);
	assert_accepted(client("send", "a", NULL));
	assert_int_equal(options.mode, MODE_SEND);
	assert_refused(client(NULL), "send, write or read, and files");
	assert_refused(client("send", NULL), "send, write or read, and files");
	assert_refused(client("copy", "a", NULL), "copy: files go by send,");
	assert_refused(client("benchmark", "a", NULL),
		       "benchmark: files go by");
	assert_refused(client("send", "d/a", "b", "a", NULL),
		       "only one file of that name");
	assert_accepted(server("-d", "in", NULL));
	assert_string_equal(options.directory, "in");
	assert_false(options.update);
	assert_false(options.benchmark);
	assert_int_equal(options.most, 1024);
	assert_accepted(server("-u", "-B", "-M", "1073741824", NULL));
	assert_true(options.update);
	assert_true(options.benchmark);
	assert_int_equal(options.most, 1 << 30);
	assert_refused(server("-M", "0", NULL), "from 1 to 1073741824");
	assert_refused(server("write", NULL), "write: one word too many");
}

/* Room for credits and names, and no more memory than a message may name. */
TEST(channel)
{
	assert_accepted(client("-q", "4", "-b", "256", "send", "a", NULL));
	assert_refused(client("-q", "3", "send", "a", NULL), "at least 4");
	assert_refused(client("-b", "255", "send", "a", NULL), "at least 256");
	assert_refused(server("-q", "3", NULL), "at least 4");
	assert_accepted(client("-q1024", "-b65536", "read", "a", NULL));
	assert_refused(client("-q1024", "-b65537", "read", "a", NULL),
		       "more than 67108864 bytes");
	assert_refused(client("-R", "1001", "send", "a", NULL),
		       "from 0 to 1000");
}

TEST(benchmark)
{
	assert_accepted(client("-n", "1", NULL));
	assert_int_equal(options.mode, MODE_BENCH);
	assert_int_equal(options.count, 1);
	assert_int_equal(options.bytes, 4096);
	assert_int_equal(options.depth, 64);
	assert_false(options.csv);
	assert_int_equal(options.without, 0);
	assert_accepted(client("--count=7", "--bytes=8", "--depth=9", "--csv",
			       "--without=inline", NULL));
	assert_int_equal(options.count, 7);
	assert_int_equal(options.bytes, 8);
	assert_int_equal(options.depth, 9);
	assert_true(options.csv);
	assert_int_equal(options.without, WITHOUT_INLINE);
	assert_refused(client("-n", "1", "write", NULL),
		       "write: a benchmark (-n) measures writes and reads");
}

/* The bounds of a number: 1 and max are in, what is beside them is not. */
static void check_bounds(const char *option, const char *max,
			 const char *beyond)
{
	static const char *const bad[] = { "0",	 "-1", "",    "abc", "1x",
					   "1 ", "1.", "0x1", "1e3" };

	assert_accepted(client("-n", "5", option, "1", NULL));
	assert_accepted(client("-n", "5", option, max, NULL));
	assert_refused(client("-n", "5", option, beyond, NULL), "from 1 to");
	assert_one_line(said.err, max);
	assert_refused(client("-n", "5", option, "99999999999999999999", NULL),
		       "from 1 to");
	/* 2^32 + 1 must not become 1. */
	assert_refused(client("-n", "5", option, "4294967297", NULL),
		       "from 1 to");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(client("-n", "5", option, bad[i], NULL),
			       "from 1 to");
}

TEST(bounds)
{
	check_bounds("-n", "10000000", "10000001");
	check_bounds("-b", "67108864", "67108865");
	check_bounds("-q", "1024", "1025");
	assert_accepted(
		client("-n", "10000000", "-b", "67108864", "-q", "1024", NULL));
	assert_int_equal(options.count, 10000000);
	assert_int_equal(options.bytes, MSG_MAX_LENGTH);
	assert_int_equal(options.depth, 1024);
}

static unsigned int without(const char *list)
{
	assert_accepted(client("-n", "1", WITHOUT, list, NULL));
	return options.without;
}

TEST(without)
{
	static const char *const bad[] = {
		"x", "selectiv", "inline,x", "inline=1", "inline chains", ","
	};
	char list[] = "chains,inline";

	assert_int_equal(without("selective"), WITHOUT_SELECTIVE);
	assert_int_equal(without("chains"), WITHOUT_CHAINS);
	assert_int_equal(without("batches"), WITHOUT_BATCHES);
	assert_int_equal(without("inline"), WITHOUT_INLINE);
	assert_int_equal(without("inline,chains"),
			 WITHOUT_INLINE | WITHOUT_CHAINS);
	assert_int_equal(without("selective,chains,batches,inline"), 15);
	/* The words of the command line are left as they were. */
	assert_int_equal(without(list), WITHOUT_INLINE | WITHOUT_CHAINS);
	assert_string_equal(list, "chains,inline");
	/* Two lists add up. */
	assert_accepted(
		client("-n1", WITHOUT, "inline", WITHOUT, "chains", NULL));
	assert_int_equal(options.without, WITHOUT_INLINE | WITHOUT_CHAINS);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_refused(client("-n", "1", WITHOUT, bad[i], NULL),
			       "selective, chains, batches, inline");
		assert_non_null(strstr(said.err, bad[i]));
	}
	assert_refused(client("-n", "1", WITHOUT, "", NULL),
		       "selective, chains");
}

/* What only a benchmark uses is refused where none is asked for. */
TEST(benchmark_without_count)
{
	assert_refused(client(WITHOUT, "inline", "write", "a", NULL), "-n");
}

TEST(other_role)
{
	assert_refused(server("-n", "1", NULL), "-n: no such option");
	assert_refused(server("--count", "1", NULL), "no such option");
	assert_refused(server("-b", "1", NULL), "-b: no such option");
	assert_refused(server("-R", "1", NULL), "-R: no such option");
	assert_refused(server("-c", NULL), "-c: no such option");
	assert_refused(server("-W", "inline", NULL), "-W: no such");
	assert_refused(client("-d", "x", "send", "a", NULL), "-d: no such");
	assert_refused(client("-1", "send", "a", NULL), "-1: no such option");
}

/* Every option of the role, its default and its bounds, and an example. */
TEST(help)
{
	static const char *const both[] = { "-a, --address", "-p, --port",
					    "-t, --timeout", "-q, --depth",
					    "-h, --help",    "1 to 65535",
					    "22227",	     "default: 10",
					    "default: 64",   "example: ./" };
	static const char *const ours[] = {
		"-n, --count", "-b, --bytes",	 "-R, --reconnect",
		"-c, --csv",   "-W, --without",	 "10000000",
		"67108864",    "send|write|read"
	};

	for (int role = ROLE_SERVER; role <= ROLE_CLIENT; role++) {
		assert_int_equal(parse(role, "-h", NULL), EXIT_DONE);
		assert_string_equal(said.err, "");
		for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
			assert_non_null(strstr(said.out, both[i]));
		for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
			assert_int_equal(strstr(said.out, ours[i]) != NULL,
					 role == ROLE_CLIENT);
		assert_int_equal(strstr(said.out, "--directory") != NULL,
				 role == ROLE_SERVER);
	}
}
