/*
 * retry.h - when to try again where a server was full, or failed
 */
#ifndef RETRY_H
#define RETRY_H

#include "wait.h"

/* The pauses double from the first to the longest, in milliseconds. */
#define RETRY_FIRST_MS 100
#define RETRY_LONGEST_MS 10000

/*
 * How long to wait after so many refusals or failures (from 1 up), in
 * milliseconds: a random time between half of the pause and all of it, so that
 * clients that were refused together do not all come back together.
 */
int retry_pause_ms(unsigned int refusals);

/* Waits so long. Returns 0, or -1 having said that the program is to stop. */
int retry_wait(int ms, const struct patience *patience);

#endif
