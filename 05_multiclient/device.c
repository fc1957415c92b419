/*
 * device.c - which device, which port of it, and which address of the port
 */
#include "device.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "addr.h"
#include "log.h"

bool device_is_roce(const struct device *device)
{
	return device->link_layer == IBV_LINK_LAYER_ETHERNET;
}

/* An IP address as a GID: IPv6 as it is, IPv4 as ::ffff:a.b.c.d. */
static void addr_to_gid(const struct sockaddr *addr, union ibv_gid *gid)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;

	if (addr->sa_family == AF_INET6) {
		memcpy(gid->raw, &sin6->sin6_addr, 16);
		return;
	}
	memset(gid->raw, 0, 10);
	memset(gid->raw + 10, 0xff, 2);
	memcpy(gid->raw + 12, &sin->sin_addr, 4);
}

/* A link-local address may be that of several netdevs: its scope says which. */
static bool is_in_scope(const struct sockaddr *local, uint32_t netdev)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)local;

	return local->sa_family != AF_INET6 || !sin6->sin6_scope_id ||
	       !netdev || sin6->sin6_scope_id == netdev;
}

/*
 * The index of local among the port's RoCE v2 GIDs, or -1. The table has other
 * entries: the same address for RoCE v1, and at index 0 a link-local one that
 * other hosts cannot be reached by. So a fixed index is a trap.
 */
static int find_gid(const struct device *device,
		    const struct ibv_port_attr *port,
		    const struct sockaddr *local)
{
	struct ibv_gid_entry entry;
	union ibv_gid gid;

	addr_to_gid(local, &gid);
	/* For an empty entry of the table, the query fails. */
	for (int i = 0; i < port->gid_tbl_len; i++)
		if (!ibv_query_gid_ex(device->verbs, device->port_num, i,
				      &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(entry.gid.raw, gid.raw, 16) &&
		    is_in_scope(local, entry.ndev_ifindex))
			return i;
	return -1;
}

/* How sure it is that packets for an address come and go by a port. */
enum fit {
	FIT_NOT,
	FIT_PERHAPS, /* InfiniBand: the address may be of its IPoIB netdev */
	FIT_WELL /* it has the address, or nobody asks for one */
};

/* How this port, as it is now, fits the address local. */
static enum fit port_fits(const struct device *device,
			  const struct sockaddr *local)
{
	struct ibv_port_attr port;

	if (ibv_query_port(device->verbs, device->port_num, &port) ||
	    port.state != IBV_PORT_ACTIVE)
		return FIT_NOT;
	if (!local || device->gid_index >= 0)
		return FIT_WELL;
	if (!device_is_roce(device))
		return FIT_PERHAPS;
	return find_gid(device, &port, local) >= 0 ? FIT_WELL : FIT_NOT;
}

/* What a device says of itself; its ports are counted from 1. */
static int query(struct device *device)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(device->verbs, &attr))
		return 0;
	device->reads_in = attr.max_qp_rd_atom;
	device->reads_out = attr.max_qp_init_rd_atom;
	return attr.phys_port_cnt;
}

/*
 * Whether options allow the device. An iWARP device has Ethernet ports, too,
 * but a queue pair of it is connected by its TCP connection: not by hand.
 */
static bool is_candidate(const struct options *options,
			 struct ibv_device *candidate)
{
	return candidate->transport_type == IBV_TRANSPORT_IB &&
	       (!options->device ||
		!strcmp(options->device, ibv_get_device_name(candidate)));
}

/*
 * Opens a device and finds the first port, from device->port_num on, that fits
 * local so well; without one, the device is closed again.
 */
static bool open_port(struct device *device, struct ibv_device *candidate,
		      const struct options *options,
		      const struct sockaddr *local, enum fit fit)
{
	struct ibv_port_attr port;
	int ports;

	device->verbs = ibv_open_device(candidate);
	if (!device->verbs)
		return false;
	ports = query(device);
	for (; device->port_num <= ports; device->port_num++) {
		if (options->port_num && options->port_num != device->port_num)
			continue;
		if (ibv_query_port(device->verbs, device->port_num, &port))
			continue;
		device->link_layer = port.link_layer;
		if (port_fits(device, local) == fit)
			return true;
	}
	/* Nothing was made in this context: closing it cannot fail. */
	ibv_close_device(device->verbs);
	device->verbs = NULL;
	return false;
}

static int explain_no_device(const struct options *options,
			     const struct sockaddr *local, int count)
{
	char port[16] = "(any)";

	if (count == 0)
		return log_fail("this machine has no RDMA device; sudo "
				"scripts/setup_rxe.sh, or use the lab: "
				"scripts/lab.sh shell"
				" [docs/troubleshooting.md#no-device]");
	if (options->port_num)
		snprintf(port, sizeof(port), "%d", options->port_num);
	if (options->device || options->port_num)
		return log_fail("device %s, port %s: there is no such active "
				"port of RoCE or InfiniBand here%s; see `rdma "
				"link`"
				" [docs/troubleshooting.md#no-active-port]",
				options->device ? options->device : "(any)",
				port, local ? " with the address in use" : "");
	if (local)
		return addr_explain_no_device(local);
	return log_fail("no RDMA device that this user may open has an active "
			"port; see `rdma link`, and is its netdev up"
			" [docs/troubleshooting.md#no-active-port]");
}

/* Opens up to max ports of the devices in list that fit local so well. */
static unsigned int open_ports(struct device *devices, unsigned int max,
			       struct ibv_device **list,
			       const struct options *options,
			       const struct sockaddr *local, enum fit fit)
{
	unsigned int count = 0;

	for (; *list; list++) {
		int port_num = 1;

		while (count < max && is_candidate(options, *list)) {
			struct device *device = &devices[count];

			device->gid_index = options->gid_index;
			device->network = options->network;
			device->port_num = port_num;
			if (!open_port(device, *list, options, local, fit))
				break;
			/* Each port of a device is one of its own here. */
			port_num = device->port_num + 1;
			count++;
		}
	}
	return count;
}

/* Names a device that was opened, and watches it. */
static int start(struct device *device)
{
	log_line("Opened shared RDMA device: %s",
		 ibv_get_device_name(device->verbs->device));
	return watch_start(&device->watch, device->verbs);
}

/* Opens 1 to max ports; how many is in *count. Returns 0 or -1. */
static int open_all(struct device *devices, unsigned int max,
		    unsigned int *count, const struct options *options,
		    const struct sockaddr *local)
{
	int known = 0;
	struct ibv_device **list = ibv_get_device_list(&known);

	*count = 0;
	if (!list)
		return log_fail_errno("ibv_get_device_list", errno,
				      "is the module ib_uverbs loaded; see "
				      "scripts/setup_rxe.sh --check"
				      " [docs/troubleshooting.md#no-device]");
	for (enum fit fit = FIT_WELL; fit != FIT_NOT && !*count; fit--)
		*count = open_ports(devices, max, list, options, local, fit);
	/* An open context keeps what it needs of the list. */
	ibv_free_device_list(list);
	if (!*count)
		return explain_no_device(options, local, known);
	for (unsigned int i = 0; i < *count; i++)
		if (start(&devices[i]))
			return -1;
	return 0;
}

int device_open(struct device *device, const struct options *options,
		const struct sockaddr *local)
{
	unsigned int count;

	return open_all(device, 1, &count, options, local);
}

void device_close(struct device *device)
{
	int err;

	watch_stop(&device->watch);
	if (device->verbs && (err = ibv_close_device(device->verbs)))
		log_fail_errno("ibv_close_device", err,
			       "does a PD or CQ of it still exist");
	*device = (struct device){ 0 };
}

int devices_open(struct devices *devices, const struct options *options,
		 const struct sockaddr *local)
{
	return open_all(devices->list, DEVICES_MAX, &devices->count, options,
			local);
}

void devices_close(struct devices *devices)
{
	while (devices->count)
		device_close(&devices->list[--devices->count]);
}

struct device *devices_find(struct devices *devices,
			    const struct sockaddr *local)
{
	for (enum fit fit = FIT_WELL; fit != FIT_NOT; fit--)
		for (unsigned int i = 0; i < devices->count; i++)
			if (port_fits(&devices->list[i], local) == fit)
				return &devices->list[i];
	addr_explain_no_device(local);
	return NULL;
}

int device_source(const struct device *device, const struct sockaddr *local,
		  struct source *source)
{
	union ibv_gid gid;
	int err;

	err = ibv_query_port(device->verbs, device->port_num, &source->port);
	if (err)
		return log_fail_errno("ibv_query_port", err,
				      "port %d; see `rdma link`",
				      device->port_num);
	source->port.active_mtu =
		network_mtu(&device->network, source->port.active_mtu);
	source->gid_index = device->gid_index;
	if (source->gid_index < 0 && device_is_roce(device))
		source->gid_index = find_gid(device, &source->port, local);
	else if (source->gid_index < 0)
		source->gid_index = 0;
	if (source->gid_index < 0)
		return addr_explain_no_device(local);
	err = ibv_query_gid(device->verbs, device->port_num, source->gid_index,
			    &source->gid);
	if (err)
		return log_fail_errno("ibv_query_gid", err > 0 ? err : errno,
				      "GID index %d: give another with -g; "
				      "scripts/setup_rxe.sh --status lists "
				      "them",
				      source->gid_index);
	memset(&gid, 0, sizeof(gid));
	if (device_is_roce(device) && !memcmp(&gid, &source->gid, sizeof(gid)))
		return log_fail("GID index %d is empty; give another with -g, "
				"or none; scripts/setup_rxe.sh --status lists "
				"them",
				source->gid_index);
	return 0;
}
