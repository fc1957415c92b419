/*
 * options.h - the command line
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "optable.h"

enum role {
	ROLE_SERVER,
	ROLE_CLIENT
};

/* What the client is to do. */
enum work {
	WORK_TALK,
	WORK_COUNT,
	WORK_CONGEST,
	WORK_FILL,
	WORK_WRITE,
	WORK_BENCH
};

enum {
	OPTIONS_MAX_PEERS = 8
};

struct options {
	/* The server's own address, or the servers', "HOST" or "HOST:PORT". */
	const char *addresses[OPTIONS_MAX_PEERS + 1]; /* and a NULL */
	int address_count;
	const char *local; /* client: send from here; NULL: by the route */
	const char *port; /* a checked number */
	int transport; /* RDS_TRANS_*; RDS_TRANS_NONE: the kernel chooses */
	int timeout_ms; /* how long a peer may take for one step */
	bool once; /* server: end with the first client that says goodbye */
	bool wait; /* server: do not read the port until told to */
	enum work work;
	unsigned int count; /* client: messages to each server */
	unsigned int bytes; /* client: bytes of a message */
	const char *command; /* client: to run when half are sent; or NULL */
	const char *key_text; /* the key as it was given; or NULL */
	uint64_t key; /* client: write with this key; 0: ask for one */
	bool csv; /* client: the table as comma-separated values */
};

/*
 * Reads the command line into *options, whose strings point into argv.
 * Returns OPTIONS_GO_ON, or the status to exit with: EXIT_DONE after -h, or
 * EXIT_USAGE after reporting what is wrong.
 */
int options_parse(struct options *options, enum role role, int argc,
		  char **argv);

#endif
