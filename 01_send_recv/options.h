/*
 * options.h - the command line
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "optable.h"

/* The most bytes that a message may have. */
#define OPTIONS_MESSAGE_MAX 1024

enum role {
	ROLE_SERVER,
	ROLE_CLIENT
};

struct options {
	const char *address; /* NULL on a server: all addresses */
	const char *port; /* a checked number */
	int timeout_ms; /* how long a peer may take for one step */
	bool once; /* server: serve one client, then exit */
	const char *text; /* client: what to send; NULL: the default */
};

/*
 * Reads the command line into *options, whose strings point into argv.
 * Returns OPTIONS_GO_ON, or the status to exit with: EXIT_DONE after -h, or
 * EXIT_USAGE after reporting what is wrong.
 */
int options_parse(struct options *options, enum role role, int argc,
		  char **argv);

#endif
