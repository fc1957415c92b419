/*
 * device.h - which device, which port of it, and which address of the port
 *
 * The CM found all of this from an IP address. Now we do. Born in
 * 03_pure_verbs.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <pthread.h>
#include <stdbool.h>

#include <infiniband/verbs.h>
#include <sys/socket.h>

#include "options.h"

/* An open device. Zero it before device_open(). */
struct device {
	struct ibv_context *verbs;
	uint8_t port_num; /* from 1 up */
	struct ibv_port_attr port; /* as it was when the device was opened */
	int gid_index; /* what -g says; -1: found by address */
	int quit_fd; /* ends the watcher below */
	pthread_t watcher; /* names the device's asynchronous events */
	bool watched;
};

/* Where on a port a queue pair lives: the address vector's own half. */
struct source {
	int gid_index;
	union ibv_gid gid;
};

/*
 * Opens the device that options name (-d, -i); otherwise the first with an
 * active port and, if local is not NULL, with the address local. Starts a
 * thread that names and acknowledges the device's asynchronous events.
 * Returns 0, or -1 having said why. Either way, end with device_close().
 */
int device_open(struct device *device, const struct options *options,
		const struct sockaddr *local);

/* Ends the watcher and closes the device: after all that was made on it. */
void device_close(struct device *device);

/* Whether the port is an Ethernet port: RoCE needs GIDs, InfiniBand LIDs. */
bool device_is_roce(const struct device *device);

/*
 * Finds the port's GID for local: what -g says, or on RoCE the RoCE v2 GID
 * that is this IP address, or on InfiniBand the first. Returns 0, or -1
 * having said why.
 */
int device_source(const struct device *device, const struct sockaddr *local,
		  struct source *source);

#endif
