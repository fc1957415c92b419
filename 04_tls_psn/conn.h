/*
 * conn.h - from an address to a connected queue pair, and back to nothing
 *
 * Here we do by hand what the CM did: oob.h (who the peer is), device.h (which
 * way leads there) and qp.h (the queue pair's states).
 */
#ifndef CONN_H
#define CONN_H

#include <stdbool.h>

#include "devices.h"
#include "listener.h"
#include "oob.h"
#include "options.h"
#include "wait.h"

/* One connection to one peer. Zero it before conn_request/conn_resolve. */
struct conn {
	struct patience patience;
	struct oob *oob;
	struct device own; /* a client's; a server shares its own */
	const struct device *device; /* our own, or the server's */
	struct source source;
	struct params mine; /* what the peer must know about us */
	struct params peer; /* what we know about the peer */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp; /* says that the CQ has completions */
	struct ibv_cq *cq; /* send and receive completions */
	struct ibv_qp *qp;
	unsigned int pending; /* posted requests that have yet to complete */
	bool armed; /* the next completion makes an event */
	bool peer_done; /* the peer has said goodbye: see peer.h */
	bool peer_left; /* or is gone without a goodbye */
};

/*
 * Server: takes the next client off the listener and receives its parameters.
 * Returns 0, or -1 after reporting why. Either way, end with conn_close().
 */
int conn_request(struct conn *conn, struct listener *listener,
		 const struct patience *patience);

/*
 * Client: reaches the server at options' address, and finds the device and
 * the GID that belong to the way there. Returns 0, or -1 after reporting why.
 * Either way, end with conn_close().
 */
int conn_resolve(struct conn *conn, const struct options *options,
		 const struct patience *patience);

/*
 * Chooses the number of our first packet: what options say, or one that nobody
 * can predict. Returns 0, or -1 after reporting why.
 */
int conn_choose_psn(struct conn *conn, const struct options *options);

/*
 * Creates the protection domain, completion channel, completion queue and
 * queue pair, with room for that many sends and receives at a time, and takes
 * the queue pair to INIT, where the peer gets at most that access. Returns
 * 0, or -1 after reporting why.
 */
int conn_create_qp(struct conn *conn, unsigned int sends, unsigned int receives,
		   unsigned int access);

/*
 * Sends our parameters, among them the mode and the memory that data_open() has
 * put there, and takes the queue pair to RTR and RTS. Both return 0 once the
 * peer is ready, too, or -1 after reporting why. Post the receives first.
 * conn_accept() is the server's, conn_connect() the client's.
 */
int conn_accept(struct conn *conn);
int conn_connect(struct conn *conn);

/*
 * Tells the peer that nothing more will come. Call it before what is posted is
 * drained: a peer that is not told thinks that the network is broken.
 */
void conn_end(struct conn *conn);

/* Frees everything, however far it came; after data_close(). */
void conn_close(struct conn *conn);

#endif
