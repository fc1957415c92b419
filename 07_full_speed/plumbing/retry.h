/*
 * retry.h - when to try again what may work later
 */
#ifndef RETRY_H
#define RETRY_H

#include "wait.h"

/* The pauses double from the first to the longest, in milliseconds. */
#define RETRY_FIRST_MS 100
#define RETRY_LONGEST_MS 10000

/*
 * How long to wait after that many failures in a row (from 1 up), in
 * milliseconds: a random time between half of the pause and all of it, so that
 * clients that were turned away together do not all come back together.
 */
int retry_pause_ms(unsigned int failures);

/*
 * If one of the retries is left after that many failures, says so, and waits.
 * Returns 0; or -1 if none is left, or after reporting that the program is to
 * stop.
 */
int retry_wait(unsigned int failures, unsigned int retries,
	       const struct patience *patience);

#endif
