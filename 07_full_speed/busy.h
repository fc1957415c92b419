/*
 * busy.h - work that takes long, while the connection stays alive
 *
 * To hash what is there of a large file, or to wait until it is on the disk, takes
 * as long as the disk likes. Meanwhile the peer, which waits for no longer than its
 * -t, must hear of us, and we of it, or of a signal. So a thread does the work, and
 * the caller waits for the end of it and for the connection at the same time.
 */
#ifndef BUSY_H
#define BUSY_H

#include <stdatomic.h>

#include "channel.h"

/*
 * Does work(of, stop) in a thread. Nothing but credits must be due from the peer.
 * Returns 0, with what work() returned in *ret; or -1 having said how the connection
 * ended, or that the program is to stop. Then *stop was set, and work() has ended,
 * too: how soon is up to it.
 */
int busy_run(struct channel *channel,
	     int (*work)(void *of, const atomic_bool *stop), void *of,
	     int *ret);

#endif
