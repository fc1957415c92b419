/*
 * options_test.h - parses command lines, and asserts what came of it
 *
 * For the test of one chapter's options.c, as all chapters have the same
 * interface. Included after options.h.
 */
#ifndef OPTIONS_TEST_H
#define OPTIONS_TEST_H

#include <getopt.h>

#include "test.h"

#define MAX_WORDS 32

static struct options options;

/* Parses one command line: the words end with NULL. */
static int parse(enum role role, ...)
{
	/* What is parsed may point into it. */
	static char *argv[MAX_WORDS + 2];
	int argc = 1, status;
	va_list words;

	argv[0] = "program";
	va_start(words, role);
	while ((argv[argc] = va_arg(words, char *)))
		assert_true(++argc < MAX_WORDS);
	va_end(words);
	/* In glibc, 0 makes getopt_long() forget the line before. */
	optind = 0;
	status = CAPTURED(options_parse(&options, role, argc, argv));
	return status;
}

/* The line was refused with one line on stderr that contains part. */
static void assert_refused(int status, const char *part)
{
	assert_int_equal(status, EXIT_USAGE);
	assert_string_equal(said.out, "");
	assert_one_line(said.err, part);
	assert_memory_equal(said.err, "error: ", 7);
}

static void assert_accepted(int status)
{
	assert_string_equal(said.err, "");
	assert_string_equal(said.out, "");
	assert_int_equal(status, OPTIONS_GO_ON);
}

#endif
