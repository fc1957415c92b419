/*
 * options.c - a command line that is described by a table
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

#define ROWS_MAX 32

static int set_number(const struct option_row *row, const char *text)
{
	bool hex = row->hex && text[0] == '0' && (text[1] | ' ') == 'x';
	char *end;
	long number;

	errno = 0;
	/* Never base 0, for which 010 is 8. */
	number = strtol(text, &end, hex ? 16 : 10);
	if (end == text || *end || errno || number < row->min ||
	    number > row->max || strpbrk(text, " \t\n\v\f\r-+"))
		return log_fail(
			row->hex ?
				"-%c %s: give a number from %d to %#x; see -h" :
				"-%c %s: give a whole number from %d to %d; see -h",
			row->letter, text, row->min, row->max);
	if (row->digits)
		*row->digits = text;
	else
		*row->number = (int)number;
	return 0;
}

/* The length of the word at index in words, which becomes *words. */
static size_t find_word(const char **words, int index)
{
	while (index-- > 0)
		*words += strcspn(*words, "|") + 1;
	return strcspn(*words, "|");
}

static int set_word(const struct option_row *row, const char *text)
{
	const char *word = row->value;
	char option[] = { '-', row->letter, ' ', 0 };

	for (int i = 0;; i++) {
		size_t length = find_word(&word, i ? 1 : 0);

		if (length == strlen(text) && !memcmp(word, text, length)) {
			*row->word = i;
			return 0;
		}
		if (!word[length])
			break;
	}
	return log_fail("%s%s: give one of %s; see -h",
			row->letter ? option : "", text, row->value);
}

static int set(const struct option_row *row, const char *text)
{
	if (row->number || row->digits)
		return set_number(row, text);
	if (row->word)
		return set_word(row, text);
	if (row->text)
		*row->text = text;
	else
		*row->flag = true;
	return 0;
}

static void print_default(const struct option_row *row)
{
	const char *word = row->value;

	if (row->otherwise)
		printf(" (default: %s)", row->otherwise);
	else if (row->number)
		printf(" (default: %d)", *row->number);
	else if (row->digits)
		printf(" (default: %s)", *row->digits);
	else if (row->word)
		printf(" (default: %.*s)", (int)find_word(&word, *row->word),
		       word);
}

static void print_help(const struct option_row *row, const char *purpose)
{
	printf("%s\n\n", purpose);
	for (; row->letter; row++) {
		printf("  -%c, --%s%s%s\n        %s", row->letter, row->name,
		       row->value ? " " : "", row->value ? row->value : "",
		       row->help);
		if (row->max)
			printf(row->hex ? ", %d to %#x" : ", %d to %d",
			       row->min, row->max);
		print_default(row);
		printf("\n");
	}
	printf("  -h, --help\n        print this\n");
}

/* Writes the options in the form that getopt_long(3) needs. */
static void convert(const struct option_row *row, char *letters,
		    struct option *longs)
{
	/* ':' first, so that we report the errors. */
	letters += sprintf(letters, ":h");
	*longs++ = (struct option){ "help", no_argument, NULL, 'h' };
	for (; row->letter; row++) {
		letters += sprintf(letters, row->value ? "%c:" : "%c",
				   row->letter);
		*longs++ = (struct option){
			.name = row->name,
			.has_arg = row->value ? required_argument : no_argument,
			.val = row->letter,
		};
	}
}

/* Says why getopt_long(3) did not take a word. */
static int refuse(int option, const char *letters, const char *word)
{
	char letter[] = { '-', (char)optopt, 0 };

	if (option == ':')
		return log_fail("%s: needs a value; see -h", word);
	/* A long option with a value that it does not take. */
	if (optopt && optopt != ':' && strchr(letters, optopt))
		return log_fail("%s: takes no value; see -h", word);
	return log_fail("%s: no such option here; see -h",
			optopt ? letter : word);
}

/* Takes the word after the options, if there must be one. */
static int take_word(const struct option_row *row, int argc, char **argv)
{
	int words = row->value ? 1 : 0;

	if (row->rest && argc > optind + words) {
		*row->rest = argv + optind + words;
		argc = optind + words;
	}
	if (argc > optind + words)
		return log_fail(
			"%s: one word too many; an address comes with -a, as in -a 192.0.2.1; see -h",
			argv[optind + words]);
	if (argc < optind + words)
		return log_fail("the last word must say what to do: %s; see -h",
				row->value);
	return words ? set_word(row, argv[optind]) : 0;
}

int options_parse(const struct option_row *rows, const char *purpose, int argc,
		  char **argv)
{
	struct option longs[ROWS_MAX + 2] = { 0 };
	char letters[2 * ROWS_MAX + 3];
	const struct option_row *row;
	int option;

	/* log_text() prints UTF-8. */
	setlocale(LC_CTYPE, "C.UTF-8");
	convert(rows, letters, longs);
	while ((option = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (option == 'h') {
			print_help(rows, purpose);
			return EXIT_DONE;
		}
		for (row = rows; row->letter && row->letter != option;)
			row++;
		if (row->letter ? set(row, optarg) :
				  refuse(option, letters, argv[optind - 1]))
			return EXIT_USAGE;
	}
	for (row = rows; row->letter;)
		row++;
	return take_word(row, argc, argv) ? EXIT_USAGE : OPTIONS_GO_ON;
}
