/*
 * rdma.h - from an address to a connected queue pair, and back
 *
 * By the RDMA connection manager (CM). What goes over the connection is in verbs.h.
 * Functions return 0, or -1 after reporting why, unless it says otherwise.
 */
#ifndef RDMA_H
#define RDMA_H

#include <netdb.h>

#include "conn.h"
#include "verbs.h"

/*
 * Server: listens on the first of these addresses on which it can. The listener
 * needs patience as a connection does, and ends with conn_close().
 */
int conn_listen(struct conn *listener, const struct addrinfo *addresses);

/*
 * Server: waits, without a deadline, for the next client. Returns 1 and the
 * id of its request in *id, for conn_take(); 0 if the program was asked to stop;
 * or -1 if no client can come any more, such as without the device.
 */
int conn_next(struct conn *listener, struct rdma_cm_id **id);

/* Server: makes conn of that request. The id is conn's from now on. */
int conn_take(struct conn *conn, struct rdma_cm_id *id);

/* Client: finds the device and path that lead to the first of these that works. */
int conn_resolve(struct conn *conn, const struct addrinfo *addresses);

/*
 * Creates the queue pair and what it needs, on the device that the CM found,
 * with room for that many sends (and writes and reads) and receives at a time.
 */
int conn_create_qp(struct conn *conn, unsigned int sends,
		   unsigned int receives);

/*
 * Server: accepts the request; client: connects. Post the receives first. When
 * they return 0, we may send.
 */
int conn_accept(struct conn *conn);
int conn_connect(struct conn *conn);

/* Client: disconnects, and waits until the peer has; server: waits for that. */
int conn_disconnect(struct conn *conn);
int conn_wait_disconnect(struct conn *conn);

/*
 * However the connection has fared: tells the peer that it is over, and gets
 * all posted requests back, so that their memory may be freed.
 */
void conn_end(struct conn *conn);

/* Frees everything that was made so far. Close the regions first. */
void conn_close(struct conn *conn);

#endif
