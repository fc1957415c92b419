/*
 * conn.h - from an address to a connected queue pair, and back to nothing
 *
 * Here the RDMA connection manager (CM) does the work.
 */
#ifndef CONN_H
#define CONN_H

#include <stdbool.h>

#include <rdma/rdma_cma.h>

#include "listener.h"
#include "wait.h"

/* One connection to one peer. Zero it before conn_request/conn_resolve. */
struct conn {
	struct patience patience;
	struct rdma_event_channel *events; /* for this connection only */
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp; /* says that the CQ has completions */
	struct ibv_cq *cq; /* send and receive completions */
	struct ibv_qp *qp;
	unsigned int pending; /* posted requests that have yet to complete */
	bool armed; /* the next completion makes an event */
	bool established; /* and not yet disconnected */
	bool peer_left; /* the peer disconnected first */
};

/*
 * Server: makes conn of the request with this id, which is conn's from now on.
 * Returns 0, or -1 after reporting why. Either way, end with conn_close().
 */
int conn_request(struct conn *conn, struct rdma_cm_id *id,
		 const struct patience *patience);

/*
 * Client: finds the RDMA device and the path that lead to port of host, which is
 * a name or an address. Returns 0, or -1 after reporting why. Either way, end
 * with conn_close().
 */
int conn_resolve(struct conn *conn, const char *host, const char *port,
		 const struct patience *patience);

/*
 * Creates the protection domain, completion channel, completion queue and
 * queue pair on the device that the CM found, with room for that many sends
 * and receives at a time. Returns 0, or -1 after reporting why.
 */
int conn_create_qp(struct conn *conn, unsigned int sends,
		   unsigned int receives);

/*
 * Server: accepts the request; client: connects. Both return 0 once the CM
 * says ESTABLISHED and we may send, or -1 after reporting why. Post the
 * receives first.
 */
int conn_accept(struct conn *conn);
int conn_connect(struct conn *conn);

/*
 * A descriptor that becomes readable when there is news of the peer, and what
 * to call then. If the peer left, conn_check_peer() puts the queue pair in
 * the error state, so that every request still posted is flushed: it comes
 * back as a completion. Returns 0, or -1 after reporting why.
 */
int conn_peer_fd(const struct conn *conn);
int conn_check_peer(struct conn *conn);

/* Client: disconnects and waits for the peer to agree. Returns 0 or -1. */
int conn_disconnect(struct conn *conn);

/* Server: waits until the peer disconnects. Returns 0, or -1. */
int conn_wait_disconnect(struct conn *conn);

/*
 * Ends the connection if there is one: tells the peer, and puts the queue pair
 * in the error state. Both ends must call this, whichever began, before they
 * free anything: a peer that is not told thinks that the network is broken.
 * Returns 0, or -1 after reporting why.
 */
int conn_end(struct conn *conn);

/* Frees everything that was made so far. */
void conn_close(struct conn *conn);

#endif
