/*
 * connection.h - the life of one of many connections, and what all share
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "devices.h"
#include "oob.h"
#include "options.h"
#include "turn.h"
#include "wait.h"

/* What connection_run() returns if the server had no room for it. */
#define CONNECTION_FULL 1

/* What all connections share. Zero it before connecting_open(). */
struct connecting {
	const struct options *options; /* borrowed */
	struct patience patience;
	struct oob *prepared; /* certificate, key and CA */
	struct devices devices;
	struct turns turns; /* to connect and shake hands */
};

/*
 * jobs: how many may be connecting at a time; 0: two for each processor.
 * Returns 0, or -1 after reporting why. Either way, end with
 * connecting_close().
 */
int connecting_open(struct connecting *connecting,
		    const struct options *options, unsigned int jobs,
		    int stop_fd);
void connecting_close(struct connecting *connecting);

/*
 * Connects, when it is the turn of number, does what a client does, and leaves.
 * Returns 0; CONNECTION_FULL; or -1; both after reporting why.
 */
int connection_run(struct connecting *connecting, unsigned int number);

#endif
