/*
 * options.h - the command line
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "msg.h"
#include "optable.h"

/* The most parts or operations at a time. */
#define OPTIONS_DEPTH_MAX 1024

/* Bytes of a part of a file, and of an operation, without -b. */
#define OPTIONS_FILE_BYTES 65536
#define OPTIONS_BENCH_BYTES 4096

enum role {
	ROLE_SERVER,
	ROLE_CLIENT
};

/* How often -W can be given. */
#define OPTIONS_LISTS 4

struct options {
	const char *address; /* NULL on a server: all addresses */
	const char *port; /* a checked number */
	int timeout_ms; /* how long a peer may take for one step */
	bool once; /* server: serve one client, then exit */
	const char *directory; /* server: for files; NULL: it takes none */
	bool update; /* server: what comes may replace older files there */
	unsigned int most; /* server: MiB that all files there may take */
	unsigned int depth; /* parts or operations at a time */
	bool benchmark; /* server: lend memory for one */
	/* Client only. */
	unsigned int traffic_class; /* of each packet, 0 to 255 */
	enum mode mode; /* how files go across; MODE_BENCH: none does */
	char **files; /* their names */
	unsigned int file_count;
	unsigned int tries; /* tries after a broken connection */
	unsigned int bytes; /* of a part of a file, or of an operation */
	bool csv; /* what is found as comma-separated values */
	/* The benchmark. */
	unsigned int count; /* operations; 0: no benchmark */
	unsigned int without; /* WITHOUT_… in pump.h */
	const char *without_lists[OPTIONS_LISTS + 1]; /* as given; and a NULL */
};

/*
 * Reads the command line into *options, whose strings point into argv.
 * Returns OPTIONS_GO_ON, or the status to exit with: EXIT_DONE after -h, or
 * EXIT_USAGE after reporting what is wrong.
 */
int options_parse(struct options *options, enum role role, int argc,
		  char **argv);

#endif
