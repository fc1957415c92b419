/*
 * optable.h - a command line that is described by a table
 *
 * A program lists its options in a table, one row for each. Parsing,
 * the errors for a wrong value, the defaults and what -h prints all come from
 * that table, so that they cannot contradict each other.
 */
#ifndef OPTABLE_H
#define OPTABLE_H

#include <stddef.h>

/* What the programs exit with. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2
};

/* What parsing returns besides an exit status. */
enum {
	OPTIONS_GO_ON = -1
};

/* What an option's value is, and the type of the member that it goes to. */
enum option_kind {
	OPTION_FLAG, /* no value; bool */
	OPTION_TEXT, /* any text of at most max bytes (0: any); const char * */
	OPTION_NUMBER, /* a whole number from min to max; int or unsigned */
	OPTION_HEX, /* such a number, also as 0x...; int or unsigned */
	OPTION_DIGITS, /* such a number, kept as text; const char * */
	OPTION_SECONDS, /* such a number, kept in milliseconds; int */
	OPTION_WORD, /* the index of a word in value, "first|second"; int */
	OPTION_LIST /* up to max texts; a NULL-terminated array */
};

enum {
	FOR_SERVER = 1,
	FOR_CLIENT = 2,
	FOR_BOTH = 3
};

/* One option. The two programs may each have a row for the same letter. */
struct option_row {
	char letter; /* 0 ends the table */
	enum option_kind kind;
	const char *name; /* the long name */
	const char *value; /* what -h calls the value; NULL for a flag */
	long min, max;
	int who; /* FOR_... */
	size_t member; /* offsetof(struct options, ...) */
	const char *preset; /* the value if it is not given; NULL: none */
	const char *otherwise; /* if none: what -h says instead, or NULL */
	const char *help; /* -h adds the range and the default */
};

/* A program's command line. */
struct optable {
	const struct option_row *rows;
	int who; /* FOR_SERVER or FOR_CLIENT */
	const char *program; /* as in "./server" */
	const char *required; /* letters of options that must be given */
	const char *words; /* what must follow the options; "": nothing */
	const char *purpose; /* what -h says about the program, in lines */
	const char *example;
};

/*
 * Reads the options in argv into the struct options at *options, on top of
 * what that holds; strings point into argv. Afterwards, optind is the first
 * word that is not an option. Returns OPTIONS_GO_ON, or the status to exit
 * with: EXIT_DONE after -h, or EXIT_USAGE after reporting what is wrong.
 */
int optable_parse(const struct optable *table, void *options, int argc,
		  char **argv);

/* The index of text in words, such as "first|second"; -1 if it is not there. */
int optable_word(const char *words, const char *text);

#endif
