/*
 * rds.h - an RDS socket: datagrams that are not lost, doubled or reordered
 *
 * One socket for all peers. The kernel keeps the connections. See rds(7) and
 * rds-rdma(7) of rds-tools, and <linux/rds.h>. Functions return 0, or -1 after
 * reporting why, unless it says otherwise.
 */
#ifndef RDS_H
#define RDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>
/* After it: of the two definitions of in6_addr, the first one counts. */
#include <linux/rds.h>

#include "wait.h"

struct rds {
	struct patience patience; /* set this, and fd to -1 */
	int fd; /* -1: none */
	struct sockaddr_in local; /* what it is bound to */
	int transport; /* RDS_TRANS_TCP or RDS_TRANS_IB, as the kernel says */
};

/*
 * Opens a socket and binds it to local, whose address must be one of this
 * machine's; if its port is 0, the kernel chooses one. transport is one of
 * RDS_TRANS_*; RDS_TRANS_NONE leaves it to the kernel. Either way, end with
 * rds_close().
 */
int rds_open(struct rds *rds, const struct sockaddr_in *local, int transport);
void rds_close(struct rds *rds);

/* The name of a transport: "tcp", "ib" or another. */
const char *rds_transport_name(int transport);

/* What goes beside a datagram: the type, data and size of cmsg(3). */
struct rds_control {
	int type; /* RDS_CMSG_* */
	const void *data;
	size_t size; /* at most RDS_CONTROL_MAX */
};
#define RDS_CONTROL_MAX sizeof(struct rds_rdma_args)

/*
 * Hands length bytes to the kernel, with a control message (NULL: none). Never
 * waits. Returns 0, or -1 with errno: the caller must handle EAGAIN and ENOBUFS;
 * explain_send() explains the others.
 */
int rds_send(struct rds *rds, const struct sockaddr_in *to, const void *buf,
	     size_t length, const struct rds_control *control);

/* Waits until the send buffer has room; returns 0, or -1 as wait_writable(). */
int rds_wait_room(struct rds *rds, int64_t deadline);

/* What one call of rds_recv() may bring: a datagram, or news, or both. */
struct rds_news {
	bool datagram;
	size_t length; /* of the datagram in bytes; may be 0 */
	struct sockaddr_in from; /* who has sent it */
	rds_rdma_cookie_t key; /* of memory that it lends us; 0: none */
	uint64_t ports; /* RDS_CONG_MONITOR_MASK() of ports to try again */
	bool completed; /* an RDMA operation of ours: */
	struct rds_rdma_notify completion;
};

/*
 * Takes the next datagram, and other news from the kernel. Never waits: if
 * nothing has come, neither datagram nor another member is set. That is also so
 * after a datagram of more than size bytes, which this reports and ignores.
 */
int rds_recv(struct rds *rds, void *buf, size_t size, struct rds_news *news);

/* Sets an option of SOL_RDS, which has that name. */
int rds_set(struct rds *rds, int option, const char *name, const void *value,
	    socklen_t size);

/* Bytes that may be queued for sending, as RDS counts, or -1. */
long rds_send_room(struct rds *rds);

/*
 * Makes the send buffer as small as the kernel allows, and returns its bytes.
 * One message of that length fills it: then POLLOUT means that the peer's
 * kernel has acknowledged this message, and all earlier ones from this socket
 * to the same peer. Messages to others may still be queued.
 */
long rds_shrink_room(struct rds *rds);

#endif
