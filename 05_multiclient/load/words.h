/*
 * words.h - the command line of load: a client's, and a few options more
 */
#ifndef WORDS_H
#define WORDS_H

#include "options.h"

struct words {
	unsigned int clients; /* connections at a time */
	unsigned int cycles; /* how often each is made, one after another */
	unsigned int jobs; /* that may be connecting at a time; 0: not given */
};

/* Like options_parse(), which fills *options. */
int words_parse(struct words *words, struct options *options, int argc,
		char **argv);

#endif
