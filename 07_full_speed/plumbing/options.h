/*
 * options.h - the command line
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "msg.h"

#define OPTIONS_DEFAULT_PORT "22227"
#define OPTIONS_DEFAULT_BYTES 1024
#define OPTIONS_BENCH_BYTES 4096

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
	enum mode mode; /* what to do with the peer's memory */
	bool first; /* send MSG_MR at once, not as an answer */
	size_t bytes; /* of memory, to be written or read; 0: by default */
	bool counts; /* -b was given: say how many bytes were verified */
	/* The benchmark; client only. */
	unsigned int count; /* operations; 0: no benchmark */
	unsigned int depth; /* operations at a time */
	bool csv; /* the table as comma-separated values */
	unsigned int without; /* WITHOUT_… in pump.h */
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
