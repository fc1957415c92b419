/*
 * test_work_options.c - what a program shall do: write, read or a benchmark
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "options_test.h"
#include "pump.h"

#define server(...) parse(ROLE_SERVER, __VA_ARGS__)
#define client(...) parse(ROLE_CLIENT, "-a", "node", __VA_ARGS__)

static void test_mode(void **state)
{
	(void)state;
	assert_accepted(server("write", NULL));
	assert_int_equal(options.mode, MODE_WRITE);
	assert_accepted(server("read", NULL));
	assert_int_equal(options.mode, MODE_READ);
	assert_accepted(client("write", NULL));
	assert_int_equal(options.mode, MODE_WRITE);
	/* Before, between or after the options. */
	assert_accepted(server("read", "-p", "7", NULL));
	assert_int_equal(options.mode, MODE_READ);
	assert_string_equal(options.port, "7");
	assert_accepted(server("--", "write", NULL));
	assert_int_equal(options.mode, MODE_WRITE);
}

static void test_bad_mode(void **state)
{
	static const char *const bad[] = { "", "Write", "writes", "r",
					   "benchmark" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_refused(server(bad[i], NULL), "write or read");
		assert_refused(client(bad[i], NULL), "write or read");
	}
	assert_refused(server(NULL), "last word must be write or read");
	assert_refused(client(NULL), "last word must be write or read");
	assert_refused(server("write", "read", NULL), "read: one word too");
	assert_refused(client("read", "read", NULL), "read: one word too");
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
			       "give a whole number from 1 to");
}

static void test_bounds(void **state)
{
	(void)state;
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

static void test_without(void **state)
{
	static const char *const bad[] = {
		"x", "selectiv", "inline,x", "inline=1", "inline chains", ","
	};
	char list[] = "chains,inline";

	(void)state;
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
static void test_benchmark_without_count(void **state)
{
	(void)state;
	assert_refused(client("-b", "64", "write", NULL), "-n");
	assert_refused(client("-q", "1", "read", NULL), "-n");
	assert_refused(client(CSV, "write", NULL), "-n");
	assert_refused(client(WITHOUT, "inline", "write", NULL), "-n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mode),
		cmocka_unit_test(test_bad_mode),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_without),
		cmocka_unit_test(test_benchmark_without_count),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
