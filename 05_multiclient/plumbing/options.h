/*
 * options.h - a command line that is described by a table
 *
 * A program lists its options in a table, one row for each. Parsing, the errors
 * for a wrong value and what -h prints all come from that table.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

/* What the programs exit with. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	OPTIONS_GO_ON = -1 /* no status: the program has work to do */
};

/*
 * One option. Its value goes to one of the variables below, which hold the
 * default until then. In the last row, letter is 0: that row describes the word
 * that must follow the options, if it has a value, and what may follow that.
 */
struct option_row {
	char letter;
	const char *name; /* the long name */
	const char *value; /* what -h calls the value; of a word, "this|that" */
	const char *help; /* -h adds the range and the default */
	const char *otherwise; /* the default, if no variable holds it */
	bool *flag; /* becomes true */
	const char **text; /* any text */
	int *word; /* the index of a word in value */
	int *number; /* a whole number from min to max */
	const char **digits; /* such a number, kept as text */
	int min, max;
	char ***rest; /* of the last row: the words after it, up to a NULL */
	bool hex; /* the number may be hexadecimal, behind 0x */
};

/*
 * Reads the command line; texts point into argv. purpose is how -h begins.
 * Returns OPTIONS_GO_ON, or the status to exit with: EXIT_DONE after -h, or
 * EXIT_USAGE after reporting what is wrong.
 */
int options_parse(const struct option_row *rows, const char *purpose, int argc,
		  char **argv);

#endif
