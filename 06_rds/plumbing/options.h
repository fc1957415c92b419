/*
 * options.h - the command line
 *
 * Born in 01_send_recv, last changed in 06_rds.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_DEFAULT_PORT "4000"

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

/* What the programs exit with. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2
};

enum {
	OPTIONS_MAX_PEERS = 8
};

struct options {
	/* The server's own address, or the servers', "HOST" or "HOST:PORT". */
	const char *addresses[OPTIONS_MAX_PEERS];
	int address_count;
	const char *local; /* client: send from here; NULL: the way to there */
	const char *port; /* a checked number */
	int transport; /* RDS_TRANS_*; RDS_TRANS_NONE: the kernel chooses */
	int timeout_ms; /* how long a peer may take for one step */
	bool once; /* server: end with the first client that says goodbye */
	bool wait; /* server: do not read the port until told to */
	enum work work;
	unsigned int count; /* client: messages to each server */
	size_t bytes; /* client: of a message */
	const char *command; /* client: to run when half are sent; or NULL */
	uint64_t key; /* client: write with this key; 0: ask for one */
	bool csv; /* client: the table as comma-separated values */
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
