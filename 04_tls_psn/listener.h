/*
 * listener.h - where a server waits for its clients
 *
 * Here, on a TCP port.
 */
#ifndef LISTENER_H
#define LISTENER_H

#include "devices.h"
#include "oob.h"
#include "options.h"
#include "wait.h"

/* What all connections of a server share. Zero it before listener_open(). */
struct listener {
	const struct options *options; /* borrowed */
	struct devices devices;
	struct oob *oob;
};

/*
 * Listens on options' address and port, and opens the devices by which clients
 * may come. options must live as long as the listener. Returns 0, or -1 after
 * reporting why. Either way the caller ends with listener_close().
 */
int listener_open(struct listener *listener, const struct options *options);

/* Frees whatever listener_open() made, even if it failed. */
void listener_close(struct listener *listener);

/*
 * Waits, without a deadline, until a client asks for a connection. Returns 1;
 * 0 if the program was asked to stop; or -1 after reporting why.
 */
int listener_wait(struct listener *listener, const struct patience *patience);

#endif
