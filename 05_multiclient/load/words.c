/*
 * words.c - the command line of load: a client's, and a few options more
 *
 * Takes out what is load's own; options_parse() reads the rest.
 */
#include "words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

static const char help[] =
	"usage: ./load/load [-n COUNT] [-N COUNT] [-j COUNT]\n"
	"                   -a ADDRESS [options of ./client] write|read\n"
	"\n"
	"Does what ./client does, many times. It has all options of ./client but\n"
	"-P, and these:\n"
	"\n"
	"  -n, --count COUNT      connections at a time, 1 to 100000\n"
	"                         (default: 1)\n"
	"  -N, --cycles COUNT     make each COUNT times, one after another,\n"
	"                         1 to 1000000 (default: 1)\n"
	"  -j, --jobs COUNT       how many may connect at a time, 1 to 100000\n"
	"                         (default: two for each processor)\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./load/load -n 1000 -a 192.0.2.1 -w 60 write\n";

/* An option of load's own. */
struct own {
	const char *letter, *name;
	long max;
	unsigned int *value;
};

static int parse(const struct own *own, const char *text)
{
	char *end;
	long number;

	errno = 0;
	number = text ? strtol(text, &end, 10) : 0;
	if (!text || end == text || *end || errno || number < 1 ||
	    number > own->max) {
		log_fail("%s %s: give a whole number from 1 to %ld",
			 own->letter, text ? text : "(nothing)", own->max);
		return EXIT_USAGE;
	}
	*own->value = number;
	return OPTIONS_GO_ON;
}

/*
 * Whether argv begins with the option; if so, *text is its value (NULL if it is
 * missing), and *used how many words they take.
 */
static bool is_own(const struct own *own, char **argv, const char **text,
		   int *used)
{
	size_t length = strlen(own->name);

	*used = 2;
	*text = argv[1];
	if (!strcmp(argv[0], own->letter) || !strcmp(argv[0], own->name))
		return true;
	*used = 1;
	*text = argv[0] + 2;
	if (!strncmp(argv[0], own->letter, 2))
		return true;
	*text = argv[0] + length + 1;
	return !strncmp(argv[0], own->name, length) && argv[0][length] == '=';
}

/* Takes load's own options out of argv, which *argc then counts. */
static int take_own(struct words *words, int *argc, char **argv)
{
	const struct own all[] = {
		{ "-n", "--count", 100000, &words->clients },
		{ "-N", "--cycles", 1000000, &words->cycles },
		{ "-j", "--jobs", 100000, &words->jobs },
	};
	int kept = 1, status = OPTIONS_GO_ON, used;
	const char *text;

	for (int i = 1; argv[i] && status == OPTIONS_GO_ON; i += used) {
		const struct own *own = NULL;

		for (int j = 0; j < 3 && !own; j++)
			if (is_own(&all[j], argv + i, &text, &used))
				own = &all[j];
		if (own) {
			status = parse(own, text);
			continue;
		}
		used = 1;
		argv[kept++] = argv[i];
	}
	*argc = kept;
	return status;
}

int words_parse(struct words *words, struct options *options, int argc,
		char **argv)
{
	int status;

	*words = (struct words){ .clients = 1, .cycles = 1 };
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-h") && strcmp(argv[i], "--help"))
			continue;
		fputs(help, stdout);
		return EXIT_DONE;
	}
	status = take_own(words, &argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	argv[argc] = NULL;
	status = options_parse(options, ROLE_CLIENT, argc, argv);
	if (status == OPTIONS_GO_ON && options->psn >= 0) {
		log_fail("-P is for one connection: ./client has it");
		return EXIT_USAGE;
	}
	return status;
}
