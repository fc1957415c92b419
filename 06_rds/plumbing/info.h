/*
 * info.h - the tables that the kernel's RDS has about itself, as in rds-info
 */
#ifndef INFO_H
#define INFO_H

#include <stdint.h>

#include "rds.h"

/*
 * Prints how many sockets and how many connections there are between this
 * socket's host and the host of peer, over this socket's transport. Returns 0,
 * or -1 after reporting why.
 */
int info_connections(struct rds *rds, const struct sockaddr_in *peer);

/* What of this socket's is queued for its peers, or unacknowledged: by host, then by port. */
struct info_queue {
	struct info_message {
		struct in_addr host;
		uint16_t port; /* big-endian, as in sockaddr_in */
		uint32_t bytes;
	} * messages;
	size_t count;
};

/*
 * Reads it. Returns 0, or -1 after reporting why. Either way, the caller frees
 * queue->messages.
 */
int info_queue(struct rds *rds, struct info_queue *queue);

#endif
