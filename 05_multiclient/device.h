/*
 * device.h - which device, which port of it, and which address of the port
 *
 * The CM found all of this from an IP address. Now we do.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>

#include <infiniband/verbs.h>
#include <sys/socket.h>

#include "network.h"
#include "watcher.h"

/* An open device. See devices_open_one(). */
struct device {
	struct ibv_context *verbs;
	uint8_t port_num; /* from 1 up */
	int link_layer; /* IBV_LINK_LAYER_… of the port */
	int reads_in; /* how many of the peer's reads it may serve at a time */
	int reads_out; /* how many of our reads may be under way */
	int gid_index; /* what -g says; -1: found by address */
	struct network network; /* what other options say */
	struct watcher watcher; /* names the device's asynchronous events */
};

/* Where a queue pair is on a port: our half of the addresses. */
struct source {
	int gid_index;
	union ibv_gid gid;
	struct ibv_port_attr port; /* now: its LID and its MTU can change */
};

/*
 * The index of the port's RoCE v2 GID that is the IP address local, or -1. The
 * table has other entries: the same address for RoCE v1, and at index 0 a
 * link-local one that reaches no other host. So a fixed index is a trap.
 */
int device_find_gid(const struct device *device,
		    const struct ibv_port_attr *port,
		    const struct sockaddr *local);

/*
 * Says which device it is, and starts a thread that names and acknowledges its
 * asynchronous events: what no completion tells, such as that a port went down.
 * Returns 0, or -1 after reporting why.
 */
int device_start(struct device *device);

/* Ends the watcher and closes the device. Free first what was created on it. */
void device_close(struct device *device);

/* Whether the port is an Ethernet port: RoCE needs GIDs, InfiniBand LIDs. */
bool device_is_roce(const struct device *device);

/*
 * Finds the port's GID for local: what -g says, or on RoCE the RoCE v2 GID that
 * is this IP address, or on InfiniBand the first; and queries the port as it is
 * now. Returns 0, or -1 after reporting why.
 */
int device_source(const struct device *device, const struct sockaddr *local,
		  struct source *source);

#endif
