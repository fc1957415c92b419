/*
 * reconnect.h - when to come back after a connection broke
 */
#ifndef RECONNECT_H
#define RECONNECT_H

#include <stdbool.h>

/* What becomes of a connection. */
enum {
	CONNECTION_DONE = 0,
	CONNECTION_BROKE = -1, /* the next one may do better */
	CONNECTION_HOPELESS = -2 /* and none will do better */
};

/* Set tries and stop_fd, and zero the rest. */
struct reconnect {
	unsigned int tries; /* in a row, without any progress */
	int stop_fd; /* becomes readable to end a pause */
	unsigned int failed; /* so many of them */
};

/*
 * A connection has become ret, with some progress or without. Returns whether there is
 * to be another one, after a pause.
 */
bool reconnect_again(struct reconnect *reconnect, int ret, bool got_on);

#endif
