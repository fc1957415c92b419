/*
 * options.h - the command line
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "msg.h"
#include "network.h"
#include "optable.h"

#define OPTIONS_DEFAULT_BYTES 1024

enum role {
	ROLE_SERVER,
	ROLE_CLIENT
};

struct options {
	const char *address; /* NULL on a server: all addresses */
	const char *port; /* a checked number */
	int timeout_ms; /* how long a peer may take for one step */
	bool once; /* server: serve one client, then exit */
	enum mode mode; /* what to do with the peer's memory */
	const char *device; /* NULL: the first that fits */
	int port_num; /* of the device; 0: the first active one */
	int gid_index; /* -1: the one for the address in use */
	struct network network; /* what it needs from our queue pairs */
	int32_t psn; /* -1: a random one */
	const char *cert; /* file names: our certificate, */
	const char *key; /* its private key, */
	const char *ca; /* and the CA that must have signed the peer's */
	const char *list; /* server: who may come, and for what; NULL: all */
	unsigned int bytes; /* bytes of memory to write or read */
	bool counts; /* -b was given: say how many bytes were verified */
};

/*
 * Reads the command line into *options, whose strings point into argv.
 * Returns OPTIONS_GO_ON, or the status to exit with: EXIT_DONE after -h, or
 * EXIT_USAGE after reporting what is wrong.
 */
int options_parse(struct options *options, enum role role, int argc,
		  char **argv);

#endif
