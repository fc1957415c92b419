/*
 * options.h - the command line
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "msg.h"

#define OPTIONS_DEFAULT_PORT "22227"
#define OPTIONS_FILE_BYTES 65536
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
	const char *directory; /* server: for files; NULL: it takes none */
	unsigned int depth; /* parts or operations at a time */
	/* Client only. */
	enum mode mode; /* how files go across; MODE_BENCH: none does */
	char **files; /* their names */
	unsigned int file_count;
	unsigned int tries; /* connections after one that broke off */
	size_t bytes; /* of a part of a file, or of an operation */
	bool csv; /* what is found as comma-separated values */
	/* The benchmark. */
	unsigned int count; /* operations; 0: no benchmark */
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
