/*
 * device.h - which of a machine's RDMA devices, and which of their ports
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

/* An open device, and one of its ports. Zero it first. */
struct device {
	struct ibv_context *verbs; /* NULL: none */
	uint8_t port_num; /* from 1 up */
	bool roce; /* it has GIDs for addresses; an InfiniBand port has LIDs */
	int reads_in; /* how many of the peer's reads it may serve at a time */
	int reads_out; /* how many of our reads may be under way */
	struct watcher watcher; /* names the device's asynchronous events */
};

/*
 * Opens up to most active ports that options allow and that belong to the address
 * local (NULL: any): RoCE ports that have it among their GIDs or, if there are none,
 * those of InfiniBand, whose GIDs are not IP addresses. Says which, and starts a
 * thread for each that names and acknowledges its asynchronous events: what no
 * completion tells, such as that a port went down. Returns 0, or -1 after reporting
 * why. Either way, end with device_close().
 */
int device_open(struct device *list, int most, const struct network *network,
		const struct sockaddr *local);

/*
 * Which of them a connection uses whose own address is local, chosen in the same
 * way. Returns NULL after reporting why there is none.
 */
const struct device *device_find(const struct device *list, int most,
				 const struct network *network,
				 const struct sockaddr *local);

/* Closes those that are open. Free first what was created on them. */
void device_close(struct device *list, int most);

#endif
