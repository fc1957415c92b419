/*
 * options.h - the command line
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "msg.h"
#include "optable.h"

#define OPTIONS_DEFAULT_BYTES 1024

enum role {
	ROLE_SERVER,
	ROLE_CLIENT,
	ROLE_LOAD /* many clients in one program */
};

struct options {
	const char *address; /* NULL on a server: all addresses */
	const char *port; /* a checked number */
	int timeout_ms; /* how long a peer may take for one step */
	bool once; /* server: serve one client, then exit */
	unsigned int end_after; /* server: how many clients; UINT_MAX: no end */
	bool verbose; /* server: tell the story of each transfer */
	unsigned int max; /* server: clients at a time */
	int hold_ms; /* server: how long a client may be silent; load: stays */
	unsigned int bytes; /* of a request, and of memory to write to */
	unsigned int count; /* load: connections */
	unsigned int cycles; /* requests, one after another */
	unsigned int jobs; /* load: that may be connecting at a time */
	unsigned int depth; /* load: requests at a time, of all connections */
	bool writes; /* the answer's data is to be written to our memory */
	bool csv; /* load: comma-separated values */
};

/*
 * Reads the command line into *options, whose strings point into argv.
 * Returns OPTIONS_GO_ON, or the status to exit with: EXIT_DONE after -h, or
 * EXIT_USAGE after reporting what is wrong.
 */
int options_parse(struct options *options, enum role role, int argc,
		  char **argv);

#endif
