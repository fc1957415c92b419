/*
 * listener.h - where a server waits for its clients
 *
 * Here, the CM listens.
 */
#ifndef LISTENER_H
#define LISTENER_H

#include <rdma/rdma_cma.h>

#include "wait.h"

/* What all connections of a server share. Zero it before listener_open(). */
struct listener {
	struct rdma_event_channel *events; /* connection requests arrive here */
	struct rdma_cm_id *id; /* bound and listening */
};

/*
 * Listens on port of host, a name or an address, or NULL for all addresses of this
 * machine. Returns 0, or -1 after reporting why. Either way the caller ends
 * with listener_close().
 */
int listener_open(struct listener *listener, const char *host,
		  const char *port);

/* Frees whatever listener_open() made, even if it failed. */
void listener_close(struct listener *listener);

/*
 * Waits, without a deadline, until a client asks for a connection, and takes the
 * request: *id is the id that the CM made for it, and the caller's from now on.
 * Returns 1; 0 if the program was asked to stop; or -1 after reporting why no
 * client can come any more, such as a device that was removed.
 */
int listener_wait(struct listener *listener, struct rdma_cm_id **id,
		  const struct patience *patience);

#endif
