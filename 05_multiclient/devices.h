/*
 * devices.h - which of a machine's RDMA devices, and which of their ports
 */
#ifndef DEVICES_H
#define DEVICES_H

#include "device.h"
#include "options.h"

/* No server has more active ports than this. */
#define DEVICES_MAX 16

/*
 * How many reads of one side may be under way at once; fewer if the device
 * cannot do as many: see device->reads_in. The CM tells each side the other's
 * number; here, we assume that both ends have the same.
 */
#define DEVICES_READS 16

/* A server's devices, once for each port. Zero it before devices_open(). */
struct devices {
	struct device list[DEVICES_MAX];
	unsigned int count;
};

/*
 * Opens the device that options name (-d, -i); otherwise the first with an
 * active port that belongs to the address local: a RoCE port that has it among
 * its GIDs or, if there is none, one of InfiniBand, whose GIDs are not IP
 * addresses. Starts it as device_start() does. Returns 0, or -1 after reporting
 * why. Either way, end with device_close().
 */
int devices_open_one(struct device *device, const struct options *options,
		     const struct sockaddr *local);

/*
 * The same for a server, whose clients may come by any device: opens all active
 * ports that options allow and, unless local is NULL, that belong to local.
 */
int devices_open(struct devices *devices, const struct options *options,
		 const struct sockaddr *local);
void devices_close(struct devices *devices);

/*
 * The device of a connection whose own address is local, chosen as in
 * devices_open_one(). Returns NULL after reporting why there is none.
 */
const struct device *devices_find(const struct devices *devices,
				  const struct sockaddr *local);

#endif
