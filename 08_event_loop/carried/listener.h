/*
 * listener.h - where a server waits for its clients
 *
 * Here, the CM listens.
 */
#ifndef LISTENER_H
#define LISTENER_H

#include <stdbool.h>

#include <rdma/rdma_cma.h>

#include "wait.h"

/* What all connections of a server share. Zero it before listener_open(). */
struct listener {
	struct rdma_event_channel *events; /* connection requests arrive here */
	struct rdma_cm_id *id; /* bound and listening */
	bool asked; /* a client really asked for a connection */
	bool gone; /* no client can come any more: device removed, … */
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
 * Waits, without a deadline, until a client asks for a connection. Returns 1;
 * 0 if the program was asked to stop; or -1 after reporting why.
 */
int listener_wait(struct listener *listener, const struct patience *patience);

#endif
