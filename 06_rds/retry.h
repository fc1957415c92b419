/*
 * retry.h - what to wait for when a message was not taken for now
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
 * Whether rds_send() may be tried again after this errno; lends: it had memory
 * to be registered beside it (RDS_CMSG_RDMA_MAP).
 */
bool retry_may(int err, bool lends);

/*
 * Waits for what kept rds_send() from sending to that peer. Returns 0 when it
 * is to be tried again, or -1 having said what did not come.
 */
int retry_wait(struct rds *rds, const struct sockaddr_in *to, bool lends,
	       const struct patience *patience, int64_t deadline);

#endif
