/*
 * load.h - many connections from one client program, with a thread for each
 */
#ifndef LOAD_H
#define LOAD_H

#include "options.h"
#include "params.h"
#include "shared.h"
#include "wait.h"

/*
 * Makes as many connections at a time, and one after another, as options say,
 * and tries again where the server is full. Between a failure and the next
 * connection it pauses; once the program is asked to stop, it makes no more.
 * connection() is the whole life of one: it returns 0; CONN_FULL, with the
 * server's words in *hello; or -1 having said why. Returns 0 if each was
 * served, or -1 having said what was wrong with which.
 */
int load_run(int (*connection)(struct shared *shared,
			       const struct options *options,
			       const struct patience *patience,
			       struct hello *hello),
	     struct shared *shared, const struct options *options,
	     const struct patience *patience);

#endif
