/*
 * busy.h - work that takes long, while the connection stays alive
 *
 * Hashing a large file, or waiting until it is on the disk, may take very long.
 * The peer waits no longer than its -t, so it needs signs of life from us
 * meanwhile, and we must notice what comes from it, or a signal. Therefore a
 * thread does the work, and the caller waits for the thread and for the
 * connection at the same time.
 */
#ifndef BUSY_H
#define BUSY_H

#include <stdatomic.h>

#include "stream.h"

/*
 * Does work(of, stop) in a thread. The peer may send only credits meanwhile.
 * Returns 0, with what work() returned in *ret; or -1 after reporting how the
 * connection ended, or that the program must stop. In that case it has set
 * *stop, and waited for work() to end, which decides how soon that is.
 */
int busy_run(struct stream *stream,
	     int (*work)(void *of, const atomic_bool *stop), void *of,
	     int *ret);

/*
 * A piece of work is done that began then (wait_deadline(0)): if all of them together
 * have taken long by now, gives a sign of life, which takes along what has gathered.
 * Returns 0, or -1 after reporting that it failed, or that the program must stop.
 */
int busy_piece(struct stream *stream, int64_t begun);

#endif
