/*
 * device.h - which device, which port of it, and which address of the port
 *
 * The CM found all of this from an IP address. Now we do.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <infiniband/verbs.h>
#include <sys/socket.h>

#include "watch.h"
#include "options.h"

/* How many objects exist, by the threads of all connections. */
struct held {
	atomic_int pds, cqs, qps, mrs;
};

/* An open device. Zero it before device_open(). */
struct device {
	struct ibv_context *verbs;
	uint8_t port_num; /* from 1 up */
	int link_layer; /* IBV_LINK_LAYER_… of the port */
	int reads_in; /* reads of the peer that it serves at a time */
	int reads_out; /* reads of ours that it has under way at a time */
	int gid_index; /* what -g says; -1: found by address */
	struct network network; /* what other options say */
	struct watch watch; /* names the device's asynchronous events */
	struct held held; /* counted where each is made and destroyed */
};

/* More active ports than a server has. */
#define DEVICES_MAX 16

/* All devices of a server, once for each port. Zero it before devices_open(). */
struct devices {
	struct device list[DEVICES_MAX];
	unsigned int count;
};

/* Where on a port a queue pair lives: the address vector's own half. */
struct source {
	int gid_index;
	union ibv_gid gid;
	struct ibv_port_attr port; /* now: a LID can change, and so can a MTU */
};

/*
 * Opens the device that options name (-d, -i); otherwise the first with an
 * active port that belongs to the address local: a RoCE port that has it among
 * its GIDs or, if there is none, one of InfiniBand, whose GIDs are no IP
 * addresses. Starts a thread that names and acknowledges the device's
 * asynchronous events. Returns 0, or -1 having said why. Either way, end with
 * device_close().
 */
int device_open(struct device *device, const struct options *options,
		const struct sockaddr *local);

/* Ends the watcher and closes the device: after all that was made on it. */
void device_close(struct device *device);

/*
 * The same for a server, whose clients may come by any device: opens all active
 * ports that options allow and, unless local is NULL, that belong to local.
 */
int devices_open(struct devices *devices, const struct options *options,
		 const struct sockaddr *local);
void devices_close(struct devices *devices);

/*
 * The device of a connection whose own address is local, chosen as in
 * device_open(). Returns NULL having said why there is none.
 */
struct device *devices_find(struct devices *devices,
			    const struct sockaddr *local);

/* Whether the port is an Ethernet port: RoCE needs GIDs, InfiniBand LIDs. */
bool device_is_roce(const struct device *device);

/*
 * Finds the port's GID for local: what -g says, or on RoCE the RoCE v2 GID
 * that is this IP address, or on InfiniBand the first; and asks what the port is
 * like now. Returns 0, or -1 having said why.
 */
int device_source(const struct device *device, const struct sockaddr *local,
		  struct source *source);

#endif
