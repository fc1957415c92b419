/*
 * optable.c - a command line that is described by a table
 */
#include "optable.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

enum {
	ROWS_MAX = 32, /* of one program */
	HELP_COLUMN = 25, /* of the explanations in -h */
	HELP_MAX = 400, /* bytes of one explanation */
	WIDTH = 78
};

static bool is_meant(const struct optable *table, const struct option_row *row)
{
	return row->who & table->who;
}

static const struct option_row *find_row(const struct optable *table,
					 int letter)
{
	const struct option_row *row = table->rows;

	while (row->letter && (row->letter != letter || !is_meant(table, row)))
		row++;
	return row->letter ? row : NULL;
}

int optable_word(const char *words, const char *text)
{
	size_t length = strlen(text);

	for (int i = 0;; i++) {
		size_t end = strcspn(words, "|");

		if (end == length && !memcmp(words, text, end))
			return i;
		if (!words[end])
			return -1;
		words += end + 1;
	}
}

static int refuse_number(const struct option_row *row, const char *text)
{
	const char *form =
		row->kind == OPTION_HEX ?
			"-%c %s: give a number from %#lx to %#lx%s%s" :
			"-%c %s: give a whole number from %ld to %ld%s%s";

	log_fail(form, row->letter, text, row->min, row->max,
		 row->preset ? "; the default is " : "",
		 row->preset ? row->preset : "");
	return EXIT_USAGE;
}

static int set_number(const struct option_row *row, void *member,
		      const char *text)
{
	bool hex = row->kind == OPTION_HEX && !strncasecmp(text, "0x", 2);
	char *end;
	long number;

	errno = 0;
	/* Never base 0, for which 010 is 8. */
	number = strtol(text, &end, hex ? 16 : 10);
	if (end == text || *end || errno || number < row->min ||
	    number > row->max || strpbrk(text, " \t\n\v\f\r-+"))
		return refuse_number(row, text);
	if (row->kind == OPTION_DIGITS)
		*(const char **)member = text;
	else if (row->kind == OPTION_SECONDS)
		*(int *)member = (int)number * 1000;
	else
		*(int *)member = (int)number;
	return OPTIONS_GO_ON;
}

static int set_text(const struct option_row *row, const char **member,
		    const char *text)
{
	if (row->max && strlen(text) > (size_t)row->max) {
		log_fail(
			"-%c: the text has %zu bytes, and at most %ld are allowed; shorten it",
			row->letter, strlen(text), row->max);
		return EXIT_USAGE;
	}
	*member = text;
	return OPTIONS_GO_ON;
}

static int set_word(const struct option_row *row, int *member, const char *text)
{
	int place = optable_word(row->value, text);

	if (place < 0) {
		log_fail("-%c %s: give one of %s", row->letter, text,
			 row->value);
		return EXIT_USAGE;
	}
	*member = place;
	return OPTIONS_GO_ON;
}

static int add_text(const struct option_row *row, const char **list,
		    const char *text)
{
	int count = 0;

	while (list[count])
		count++;
	if (count == row->max) {
		log_fail("-%c %s: at most %ld here; see -h", row->letter, text,
			 row->max);
		return EXIT_USAGE;
	}
	list[count] = text;
	return OPTIONS_GO_ON;
}

/* Sets the row's member of options to the value of text. */
static int set(const struct option_row *row, void *options, const char *text)
{
	void *member = (char *)options + row->member;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)member = true;
		return OPTIONS_GO_ON;
	case OPTION_TEXT:
		return set_text(row, member, text);
	case OPTION_WORD:
		return set_word(row, member, text);
	case OPTION_LIST:
		return add_text(row, member, text);
	default:
		return set_number(row, member, text);
	}
}

/* Prints text from column on in lines of WIDTH; returns the last column. */
static int print_words(const char *text, int column, int margin)
{
	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > margin && column + 1 + length > WIDTH) {
			printf("\n%*s", margin, "");
			column = margin;
		} else if (column > margin) {
			column += printf(" ");
		}
		column += printf("%.*s", length, text);
		text += length + (text[length] == ' ');
	}
	return column;
}

/* "[-p PORT]", as one word, so that -h does not break the line within it. */
static int print_brief(const struct optable *table,
		       const struct option_row *row, int column, int margin)
{
	bool must = strchr(table->required, row->letter);
	char brief[64];
	int length =
		snprintf(brief, sizeof(brief), "%s-%c%s%s%s", must ? "" : "[",
			 row->letter, row->value ? " " : "",
			 row->value ? row->value : "", must ? "" : "]");

	if (column + 1 + length > WIDTH) {
		printf("\n%*s%s", margin, "", brief);
		return margin + length;
	}
	return column + printf("%s%s", column > margin ? " " : "", brief);
}

static void print_row(const struct option_row *row)
{
	int column =
		printf("  -%c, --%s%s%s", row->letter, row->name,
		       row->value ? " " : "", row->value ? row->value : "");
	int ranged = row->kind > OPTION_TEXT && row->kind < OPTION_WORD;
	const char *form =
		row->kind == OPTION_HEX ? "%s, %#lx to %#lx" : "%s, %ld to %ld";
	char text[HELP_MAX];

	if (column >= HELP_COLUMN) {
		printf("\n");
		column = 0;
	}
	printf("%*s", HELP_COLUMN - column, "");
	snprintf(text, sizeof(text), ranged ? form : "%s", row->help, row->min,
		 row->max);
	column = print_words(text, HELP_COLUMN, HELP_COLUMN);
	if (row->preset || row->otherwise) {
		snprintf(text, sizeof(text), "(default: %s)",
			 row->preset ? row->preset : row->otherwise);
		print_words(text, column, HELP_COLUMN);
	}
	printf("\n");
}

static void print_help(const struct optable *table)
{
	const struct option_row *row;
	int margin = printf("usage: %s ", table->program), column = margin;

	for (row = table->rows; row->letter; row++)
		if (is_meant(table, row))
			column = print_brief(table, row, column, margin);
	print_words(table->words, column, margin);
	printf("\n\n%s\n\n", table->purpose);
	for (row = table->rows; row->letter; row++)
		if (is_meant(table, row))
			print_row(row);
	printf("  -h, --help             print this\n\nexample: %s\n",
	       table->example);
}

/* The options, in the form that getopt_long(3) needs. */
struct getopt_tables {
	char letters[2 * ROWS_MAX + 3];
	struct option names[ROWS_MAX + 2];
};

static void fill(struct getopt_tables *all, const struct optable *table)
{
	/* ':' first, so that we report the errors. */
	char *letter = all->letters + sprintf(all->letters, ":h");
	struct option *name = all->names;

	*name++ = (struct option){ "help", no_argument, NULL, 'h' };
	for (const struct option_row *row = table->rows; row->letter; row++) {
		if (!is_meant(table, row) || name == all->names + ROWS_MAX)
			continue;
		*letter++ = row->letter;
		if (row->value)
			*letter++ = ':';
		*name++ = (struct option){
			.name = row->name,
			.has_arg = row->value ? required_argument : no_argument,
			.val = row->letter,
		};
	}
}

/* Why getopt_long(3) did not take a word. */
static int refuse_option(const struct getopt_tables *all, int option,
			 const char *word)
{
	char letter[] = { '-', (char)optopt, 0 };

	if (option == ':')
		log_fail("%s: needs a value; see -h", word);
	else if (optopt && optopt != ':' && strchr(all->letters, optopt))
		/* A long option with a value that it does not take. */
		log_fail("%s: takes no value; see -h", word);
	else
		log_fail("%s: no such option here; see -h",
			 optopt ? letter : word);
	return EXIT_USAGE;
}

static int set_presets(const struct optable *table, void *options)
{
	int status = OPTIONS_GO_ON;

	for (const struct option_row *row = table->rows;
	     row->letter && status == OPTIONS_GO_ON; row++)
		if (is_meant(table, row) && row->preset)
			status = set(row, options, row->preset);
	return status;
}

int optable_parse(const struct optable *table, void *options, int argc,
		  char **argv)
{
	struct getopt_tables all = { 0 };
	int option, status = set_presets(table, options);

	fill(&all, table);
	while (status == OPTIONS_GO_ON &&
	       (option = getopt_long(argc, argv, all.letters, all.names,
				     NULL)) != -1) {
		if (option == ':' || option == '?')
			return refuse_option(&all, option, argv[optind - 1]);
		if (option == 'h') {
			print_help(table);
			return EXIT_DONE;
		}
		status = set(find_row(table, option), options, optarg);
	}
	return status;
}
