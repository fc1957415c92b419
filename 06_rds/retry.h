/*
 * retry.h - what to wait for when the kernel does not accept a message yet
 */
#ifndef RETRY_H
#define RETRY_H

#include <stdbool.h>

#include "rds.h"
#include "wait.h"

/* Waits until the send buffer has room. Returns 0, or -1 as wait_writable(). */
int retry_wait_room(struct rds *rds, const struct patience *patience,
		    int64_t deadline);

/*
 * Whether rds_send() may be tried again after this errno; lends: its control
 * message had memory to register (RDS_CMSG_RDMA_MAP).
 */
bool retry_may(int err, bool lends);

/*
 * Waits until rds_send() may be able to send to that peer. Returns 0 when it is
 * worth another try, or -1 after reporting what did not come.
 */
int retry_wait(struct rds *rds, const struct sockaddr_in *to, bool lends,
	       const struct patience *patience, int64_t deadline);

#endif
