/*
 * connection.h - the life of one of many connections, and what all share
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <semaphore.h>

#include "place.h"

/* What all connections share. Set these, and zero the rest. */
struct connecting {
	const struct oob_way *way; /* borrowed */
	struct conn open; /* its patience and network; has the devices */
	enum mode mode;
	size_t bytes;
	int hold; /* seconds */
	sem_t jobs; /* so many may still begin to connect */
};

/*
 * jobs: how many may be connecting at a time; 0: two for each processor.
 * Returns 0, or -1 after reporting why. Either way, end with
 * connecting_close().
 */
int connecting_open(struct connecting *connecting, unsigned int jobs);
void connecting_close(struct connecting *connecting);

/*
 * Connects, when there is a job for it, does what a client does, and leaves.
 * Returns 0; PLACE_FULL; or -1; both after reporting why.
 */
int connection_run(struct connecting *connecting);

#endif
