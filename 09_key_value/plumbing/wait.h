/*
 * wait.h - the one place where the programs wait
 *
 * Nothing here waits for ever for a peer: every wait has a deadline, and ends
 * early when the program is asked to stop.
 */
#ifndef WAIT_H
#define WAIT_H

#include <stdint.h>

/* How patient the caller is: how long it waits at most, if not asked to stop. */
struct patience {
	int timeout_ms; /* how long a peer may take for one step */
	int stop_fd; /* becomes readable to end all waiting; -1: never */
};

enum {
	WAIT_FIRST = 1,
	WAIT_SECOND = 2
};

/* The moment that is ms milliseconds from now; ms < 0 means never. */
int64_t wait_deadline(int ms);

/*
 * Waits until first or second (-1: none) can be read, and returns WAIT_FIRST,
 * WAIT_SECOND or both. Returns -1 with errno ECANCELED when stop_fd became
 * readable, ETIMEDOUT after the deadline, even if there is something to read,
 * or the errno of poll(2). With a deadline of 0 it does not wait and does not
 * time out: it only checks what is there now.
 */
int wait_readable(int first, int second, int stop_fd, int64_t deadline);

/* The same until fd can be written to; returns 0 instead of WAIT_FIRST. */
int wait_writable(int fd, int stop_fd, int64_t deadline);

/* Says in one line why wait_readable() gave up waiting for what; returns -1. */
int wait_fail(const char *what, int err, const struct patience *patience);

/*
 * Makes SIGINT and SIGTERM readable at *stop_fd instead of fatal, so that a
 * signal can be waited for like anything else. Returns 0, or -1 after reporting
 * why. The caller closes *stop_fd.
 */
int wait_for_signals(int *stop_fd);

/* Sets O_NONBLOCK on fd; call names its source in the error. Returns 0, -1. */
int wait_nonblocking(int fd, const char *call);

#endif
