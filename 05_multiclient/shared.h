/*
 * shared.h - what all connections of a client program share
 *
 * A server has its listener for that.
 */
#ifndef SHARED_H
#define SHARED_H

#include <pthread.h>
#include <stdbool.h>

#include <sys/socket.h>

#include "devices.h"
#include "held.h"
#include "oob.h"
#include "options.h"

struct shared {
	struct oob *prepared; /* certificate, key and CA, read once */
	struct held held; /* by all connections */
	pthread_mutex_t lock; /* for what follows */
	struct devices devices;
	bool opened;
};

/* Returns 0, or -1 having said why. Either way, end with shared_close(). */
int shared_open(struct shared *shared, const struct options *options);

/*
 * The device that has the address local. All devices are opened for the first
 * connection that asks, and are the same for all. Returns NULL having said why.
 */
const struct device *shared_device(struct shared *shared,
				   const struct options *options,
				   const struct sockaddr *local);

/* Closes the devices, after the last connection. */
void shared_close(struct shared *shared);

#endif
