/*
 * test_options.c - each command line of options.tsv, in each chapter that it is for
 *
 * A row has the numbers of the chapters, or "all"; the program; its words; and what
 * comes of them:
 *	refused: PART & PART	it is refused in one line that has these parts
 *	said: PART & !PART	the help, which has the one and not the other
 *	NAME=VALUE NAME=VALUE	struct options has these; nothing after = is NULL
 * Of the words, @ is what the program needs in any case, x*3 is xxx, _ a blank, ""
 * an empty word, and {a|b} one after another; $ stands for it in what comes of it.
 */
#define _GNU_SOURCE
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "members.h"
#include "test.h"

#define MAX_WORDS 32
#define MAX_LINE 4096

#define IS_TEXT(name)                                              \
	(__builtin_types_compatible_p(__typeof__(name), char *) || \
	 __builtin_types_compatible_p(__typeof__(name), const char *))

static struct options options;
/* For whoever reads that it failed. */
static char tried[MAX_LINE];

#define WRONG(format, ...)                                               \
	fail_msg("%s\n" format "\n%s%s", tried, ##__VA_ARGS__, said.out, \
		 said.err)

/* Writes to text what a word stands for, and returns where that ends. */
static char *plain(const char *word, char *text)
{
	const char *star = strchr(word, '*');
	size_t length = star ? (size_t)(star - word) : strlen(word);
	int times = star ? atoi(star + 1) : strcmp(word, "\"\"") != 0;
	char *end = text;

	for (int i = 0; i < times; i++, end += length)
		memcpy(end, word, length);
	*end = 0;
	for (char *blank = text; (blank = strchr(blank, '_'));)
		*blank = ' ';
	return end + 1;
}

static int parse(enum role role, const char *words)
{
	/* What is parsed may point into these. */
	static char texts[MAX_LINE], before[MAX_LINE];
	static char *argv[MAX_WORDS + 2];
	char line[MAX_LINE], *rest, *end = texts;
	int argc = 1, status;

	argv[0] = "program";
	strcpy(line, words);
	for (char *word = strtok_r(line, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		assert_true(argc < MAX_WORDS);
		argv[argc++] = end;
		end = plain(word, end);
	}
	argv[argc] = NULL;
	memcpy(before, texts, sizeof(texts));
	/* In glibc, 0 makes getopt_long() forget the line before. */
	optind = 0;
	status = CAPTURED(options_parse(&options, role, argc, argv));
	if (memcmp(before, texts, sizeof(texts)))
		WRONG("The words have changed.");
	return status;
}

/* A number, or names of this chapter joined by +. */
static uint64_t number(const char *text)
{
	const char *plus = strchr(text, '+');
	size_t length = plus ? (size_t)(plus - text) : strlen(text);

	if (plus)
		return number(plus + 1) | number(strndupa(text, length));
#define NAME(name)                \
	if (!strcmp(text, #name)) \
		return name;
	NAMES
	return strtoull(text, NULL, 0);
}

static bool is(const char *want, const void *at, size_t size, bool is_text)
{
	char expected[MAX_LINE];
	const char *text;

	if (is_text) {
		text = *(const char *const *)at;
		plain(want, expected);
		return *want ? text && !strcmp(text, expected) : !text;
	}
	switch (size) {
	case 1:
		return *(const uint8_t *)at == number(want);
	case 4:
		return (uint64_t)(*(const int32_t *)at) == number(want);
	default:
		assert_int_equal(size, 8);
		return *(const uint64_t *)at == number(want);
	}
}

static bool member_is(const char *asked, const char *want)
{
#define MEMBER(name)                                                 \
	if (!strcmp(asked, #name))                                   \
		return is(want, &options.name, sizeof(options.name), \
			  IS_TEXT(options.name));
	MEMBERS
	MEMBER(port)
	MEMBER(timeout_ms)
	MEMBER(once)
	return false;
}

static void check_members(char *outcome)
{
	char *rest;

	for (char *name = strtok_r(outcome, " ", &rest); name;
	     name = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(name, '=');

		assert_non_null(value);
		*value++ = 0;
		if (!member_is(name, value))
			WRONG("%s is not \"%s\".", name, value);
	}
}

static void check_parts(const char *text, char *part)
{
	for (char *next; part; part = next) {
		next = strstr(part, " & ");
		if (next) {
			*next = 0;
			next += 3;
		}
		if (*part == '!' ? !!strstr(text, part + 1) :
				   !strstr(text, part))
			WRONG("It says not this: %s", part);
	}
}

static void check(enum role role, const char *words, char *outcome)
{
	static const char refused[] = "refused: ", helped[] = "said: ";
	int status, wanted = OPTIONS_GO_ON;

	snprintf(tried, sizeof(tried), "%s: %s",
		 role == ROLE_SERVER ? "server" : "client", words);
	status = parse(role, words);
	if (!strncmp(outcome, refused, strlen(refused))) {
		wanted = EXIT_USAGE;
		assert_one_line(said.err, "error: ");
		assert_memory_equal(said.err, "error: ", 7);
		check_parts(said.err, outcome + strlen(refused));
	} else if (!strncmp(outcome, helped, strlen(helped))) {
		wanted = EXIT_DONE;
		check_parts(said.out, outcome + strlen(helped));
	} else {
		check_members(outcome);
	}
	if (status != wanted)
		WRONG("The status is %d, not %d.", status, wanted);
	if (*said.err && wanted != EXIT_USAGE)
		WRONG("It says an error.");
	if (*said.out && wanted != EXIT_DONE)
		WRONG("It says more than an error.");
}

/* Once for each word between { and }. */
static void check_each(enum role role, const char *words, const char *outcome)
{
	const char *open = strchr(words, '{'), *place = strchr(outcome, '$');
	char line[MAX_LINE], wanted[MAX_LINE], word[256], text[256];

	if (!open) {
		strcpy(wanted, outcome);
		check(role, words, wanted);
		return;
	}
	for (const char *at = open; *at != '}'; at += strcspn(at, "|}")) {
		size_t length = strcspn(++at, "|}");

		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		plain(*word ? word : "\"\"", text);
		snprintf(line, sizeof(line), "%.*s%s%s", (int)(open - words),
			 words, *word ? word : "\"\"", strchr(open, '}') + 1);
		strcpy(wanted, outcome);
		if (place)
			snprintf(wanted, sizeof(wanted), "%.*s%s%s",
				 (int)(place - outcome), outcome, text,
				 place + 1);
		check(role, line, wanted);
	}
}

static void check_role(enum role role, const char *words, const char *outcome)
{
	char line[MAX_LINE];

	if (*words == '@') {
		snprintf(line, sizeof(line), "%s%s",
			 role == ROLE_SERVER ? SERVER_WORDS : CLIENT_WORDS,
			 words + 1);
		words = line;
	}
	check_each(role, words, outcome);
}

TEST(command_lines)
{
	FILE *table = fopen("options.tsv", "r");
	char line[MAX_LINE];
	int rows = 0;

	/* From the top of the repository. */
	if (!table)
		table = fopen("tests/unit/options.tsv", "r");
	assert_non_null(table);
	while (fgets(line, sizeof(line), table)) {
		char *rest = line, *chapters = strsep(&rest, "\t"),
		     *program = strsep(&rest, "\t"),
		     *words = strsep(&rest, "\t"), *outcome = rest;

		if (*line == '#')
			continue;
		assert_non_null(outcome);
		outcome[strcspn(outcome, "\n")] = 0;
		if (strcmp(chapters, "all") && !strstr(chapters, CHAPTER))
			continue;
		if (strcmp(program, "client"))
			check_role(ROLE_SERVER, words, outcome);
		if (strcmp(program, "server"))
			check_role(ROLE_CLIENT, words, outcome);
		rows++;
	}
	assert_int_equal(fclose(table), 0);
	assert_true(rows > 25);
}
