/*
 * options.h - the command line
 *
 * Born in 01_send_recv.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#define OPTIONS_DEFAULT_PORT "20886"

enum role {
	ROLE_SERVER,
	ROLE_CLIENT
};

/* What the programs exit with. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2
};

struct options {
	const char *address; /* NULL on a server: all of this machine's */
	const char *port; /* a checked number */
	int timeout_ms; /* how long a peer may take for one step */
	bool once; /* server: serve one client, then exit */
	const char *text; /* client: what to send; NULL: the default */
};

/* What options_parse() returns besides an exit status. */
enum {
	OPTIONS_GO_ON = -1
};

/*
 * Reads the command line into *options, whose strings point into argv.
 * Returns OPTIONS_GO_ON, or the status to exit with: EXIT_DONE after -h, or
 * EXIT_USAGE having said what is wrong.
 */
int options_parse(struct options *options, enum role role, int argc,
		  char **argv);

#endif
