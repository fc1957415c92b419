/*
 * test_05_words.c - the command line of chapter 05's load
 */
#include "words.h"

#include <getopt.h>
#include <string.h>

#include "test.h"

static struct words words;
static struct options options;

static int parse(const char *line)
{
	static char text[256];
	char *argv[32] = { "load" };
	int argc = 1, ret;

	strncpy(text, line, sizeof(text) - 1);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	optind = 0;
	ret = CAPTURED(words_parse(&words, &options, argc, argv));
	return ret;
}

static void refused(const char *line, const char *why)
{
	assert_int_equal(parse(line), EXIT_USAGE);
	assert_one_line(said.err, why);
}

TEST(own)
{
	assert_int_equal(parse("-a node write"), OPTIONS_GO_ON);
	assert_int_equal(words.clients, 1);
	assert_int_equal(words.cycles, 1);
	assert_int_equal(words.jobs, 0);
	assert_int_equal(parse("-n 5 -a node -N6 -w 7 --jobs 8 read"),
			 OPTIONS_GO_ON);
	assert_int_equal(words.clients, 5);
	assert_int_equal(words.cycles, 6);
	assert_int_equal(words.jobs, 8);
	assert_string_equal(options.address, "node");
	assert_int_equal(options.hold, 7);
	assert_int_equal(options.mode, MODE_READ);
	assert_int_equal(parse("--count=9 --cycles=10 -a node -j 1 -r 2 write"),
			 OPTIONS_GO_ON);
	assert_int_equal(words.clients, 9);
	assert_int_equal(words.cycles, 10);
	assert_int_equal(words.jobs, 1);
	assert_int_equal(options.retries, 2);
}

TEST(wrong)
{
	refused("-n 0 -a node write", "-n 0: give a whole number from 1 to");
	refused("-N many -a node write", "-N many: give a whole number");
	refused("-a node write -j", "-j (nothing): give a whole number");
	refused("--count= -a node write", "-n : give a whole number");
	refused("-n 100001 -a node write", "from 1 to 100000");
	refused("-n 2 -x -a node write", "-x: no such option here");
	refused("-n 2 write", "the server's address is missing");
	refused("-P 7 -n 2 -a node write", "-P is for one connection");
}
