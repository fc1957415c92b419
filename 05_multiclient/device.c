/*
 * device.c - which device, which port of it, and which address of the port
 *
 * Born in 03_pure_verbs, last changed in 05_multiclient.
 */
#include "device.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "addr.h"
#include "log.h"
#include "watch.h"

bool device_is_roce(const struct device *device)
{
	return device->port.link_layer == IBV_LINK_LAYER_ETHERNET;
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

/*
 * The index of gid among the port's RoCE v2 GIDs, or -1. The table has other
 * entries: the same address for RoCE v1, and at index 0 a link-local one that
 * other hosts cannot be reached by. So a fixed index is a trap.
 */
static int find_gid(const struct device *device, const union ibv_gid *gid)
{
	struct ibv_gid_entry entry;

	/* For an empty entry of the table, the query fails. */
	for (int i = 0; i < device->port.gid_tbl_len; i++)
		if (!ibv_query_gid_ex(device->verbs, device->port_num, i,
				      &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(entry.gid.raw, gid->raw, 16))
			return i;
	return -1;
}

/* Whether this port is up and, on RoCE, has the address local. */
static bool port_fits(struct device *device, const struct sockaddr *local)
{
	union ibv_gid gid;

	if (ibv_query_port(device->verbs, device->port_num, &device->port) ||
	    device->port.state != IBV_PORT_ACTIVE)
		return false;
	if (!local || !device_is_roce(device) || device->gid_index >= 0)
		return true;
	addr_to_gid(local, &gid);
	return find_gid(device, &gid) >= 0;
}

/* Tries the ports of one device; leaves it open if one of them will do. */
static bool device_fits(struct device *device, struct ibv_device *candidate,
			const struct options *options,
			const struct sockaddr *local)
{
	struct ibv_device_attr attr;

	if (options->device &&
	    strcmp(options->device, ibv_get_device_name(candidate)))
		return false;
	device->verbs = ibv_open_device(candidate);
	if (!device->verbs)
		return false;
	if (ibv_query_device(device->verbs, &attr))
		attr.phys_port_cnt = 0;
	for (int port = 1; port <= attr.phys_port_cnt; port++) {
		device->port_num = port;
		if (options->port_num && options->port_num != port)
			continue;
		if (port_fits(device, local))
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
				"scripts/setup_rxe.sh, or scripts/lab.sh up"
				" [docs/troubleshooting.md#no-device]");
	if (options->port_num)
		snprintf(port, sizeof(port), "%d", options->port_num);
	if (options->device || options->port_num)
		return log_fail("device %s, port %s: there is no such active "
				"port here%s; see `rdma link`"
				" [docs/troubleshooting.md#no-active-port]",
				options->device ? options->device : "(any)",
				port, local ? " with the address in use" : "");
	if (local)
		return addr_explain_no_device(local);
	return log_fail("no RDMA device that this user may open has an active "
			"port; see `rdma link`, and is its netdev up"
			" [docs/troubleshooting.md#no-active-port]");
}

int device_open(struct device *device, const struct options *options,
		const struct sockaddr *local)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);
	bool found = false;

	device->gid_index = options->gid_index;
	if (!list)
		return log_fail_errno("ibv_get_device_list", errno,
				      "is the module ib_uverbs loaded; see "
				      "scripts/setup_rxe.sh --check"
				      " [docs/troubleshooting.md#no-device]");
	for (int i = 0; i < count && !found; i++)
		found = device_fits(device, list[i], options, local);
	/* An open context keeps what it needs of the list. */
	ibv_free_device_list(list);
	if (!found)
		return explain_no_device(options, local, count);
	log_line("Opened shared RDMA device: %s",
		 ibv_get_device_name(device->verbs->device));
	return watch_start(device);
}

void device_close(struct device *device)
{
	int err;

	watch_stop(device);
	if (device->verbs && (err = ibv_close_device(device->verbs)))
		log_fail_errno("ibv_close_device", err,
			       "does a PD or CQ of it still exist");
	*device = (struct device){ 0 };
}

int device_source(const struct device *device, const struct sockaddr *local,
		  struct source *source)
{
	union ibv_gid gid;
	int err;

	addr_to_gid(local, &gid);
	source->gid_index = device->gid_index;
	if (source->gid_index < 0)
		source->gid_index =
			device_is_roce(device) ? find_gid(device, &gid) : 0;
	if (source->gid_index < 0)
		return addr_explain_no_device(local);
	err = ibv_query_gid(device->verbs, device->port_num, source->gid_index,
			    &source->gid);
	if (err)
		return log_fail_errno("ibv_query_gid", err > 0 ? err : errno,
				      "GID index %d: give another with -G; "
				      "scripts/setup_rxe.sh --status lists "
				      "them",
				      source->gid_index);
	memset(&gid, 0, sizeof(gid));
	if (device_is_roce(device) && !memcmp(&gid, &source->gid, sizeof(gid)))
		return log_fail("GID index %d is empty; give another with -G, "
				"or none; scripts/setup_rxe.sh --status lists "
				"them",
				source->gid_index);
	return 0;
}
