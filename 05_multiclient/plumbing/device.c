/*
 * device.c - which of a machine's RDMA devices, and which of their ports
 */
#include "device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "addr.h"
#include "event_help.h"
#include "explain.h"
#include "gid.h"
#include "log.h"
#include "wait.h"

/*
 * How many reads of one side may be under way at once; fewer if the device cannot
 * do as many. The CM tells each side the other's number; here, we assume that both
 * ends have the same.
 */
#define READS 16

/* Whether options allow a device of that name. */
static bool is_meant(const struct network *network, struct ibv_device *device)
{
	return !network->device ||
	       !strcmp(network->device, ibv_get_device_name(device));
}

/* How sure we are that packets from an address use a port. */
enum fit {
	FIT_NOT,
	FIT_PERHAPS, /* InfiniBand: the address may be of its IPoIB netdev */
	FIT_WELL /* it has the address, or any will do */
};

/* How well the port, as it is now, fits local; NULL: any address. */
static enum fit find_fit(const struct device *device,
			 const struct network *network,
			 const struct sockaddr *local)
{
	struct ibv_port_attr port;

	if (ibv_query_port(device->verbs, device->port_num, &port) ||
	    port.state != IBV_PORT_ACTIVE)
		return FIT_NOT;
	if (!local || network->gid_index >= 0)
		return FIT_WELL;
	if (port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return FIT_PERHAPS;
	return gid_find(device->verbs, device->port_num, local) < 0 ? FIT_NOT :
								      FIT_WELL;
}

/* READS, or what the device can do if that is less. */
static int reads(int device_max)
{
	return device_max < READS ? device_max : READS;
}

/* Asks an open device for its limits and its kind; returns how many ports it has. */
static int ask(struct device *device)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port;

	if (ibv_query_device(device->verbs, &attr) ||
	    ibv_query_port(device->verbs, device->port_num, &port))
		return 0;
	device->roce = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	device->reads_in = reads(attr.max_qp_rd_atom);
	device->reads_out = reads(attr.max_qp_init_rd_atom);
	return attr.phys_port_cnt;
}

/*
 * Opens candidate once for each of its ports that fits local so well, or only for
 * the port that options name. Returns how many, at most most.
 */
static int open_ports(struct device *list, int most,
		      struct ibv_device *candidate,
		      const struct network *network,
		      const struct sockaddr *local, enum fit fit)
{
	int only = network->port_num, ports, count = 0;

	for (int port = only ? only : 1; count < most; port++) {
		struct device *device = &list[count];

		*device = (struct device){
			.verbs = ibv_open_device(candidate),
			.port_num = port,
		};
		if (!device->verbs)
			break;
		ports = ask(device);
		if (port <= ports && find_fit(device, network, local) == fit) {
			count++;
		} else {
			/* Nothing was made in it, so closing cannot fail. */
			ibv_close_device(device->verbs);
			device->verbs = NULL;
		}
		if (only || port >= ports)
			break;
	}
	return count;
}

/*
 * Opens what fits local so well. Not an iWARP device: it has Ethernet ports, too,
 * but its queue pairs connect over TCP, not by hand.
 */
static int open_devices(struct device *list, int most,
			struct ibv_device **candidates,
			const struct network *network,
			const struct sockaddr *local, enum fit fit)
{
	int count = 0;

	for (; *candidates; candidates++)
		if ((*candidates)->transport_type == IBV_TRANSPORT_IB &&
		    is_meant(network, *candidates))
			count += open_ports(list + count, most - count,
					    *candidates, network, local, fit);
	return count;
}

/* An iWARP device that options allow; NULL if they allow others, too. */
static struct ibv_device *only_iwarp(struct ibv_device **list,
				     const struct network *network)
{
	struct ibv_device *found = NULL;

	for (; *list; list++) {
		if (!is_meant(network, *list))
			continue;
		if ((*list)->transport_type == IBV_TRANSPORT_IB)
			return NULL;
		if ((*list)->transport_type == IBV_TRANSPORT_IWARP)
			found = *list;
	}
	return found;
}

static int explain_none(struct ibv_device **list, const struct network *network,
			const struct sockaddr *local)
{
	struct ibv_device *iwarp = only_iwarp(list, network);
	char port[16] = "(any)";

	if (!*list)
		return log_fail(
			"this machine has no RDMA device; sudo scripts/setup_rxe.sh, or use the lab: scripts/lab.sh shell [docs/troubleshooting.md#no-device]");
	if (iwarp)
		return log_fail(
			"%s is an iWARP device, whose queue pairs only the connection manager can connect; use chapter 01, 02 or 07, or RoCE: sudo scripts/setup_rxe.sh [docs/troubleshooting.md#iwarp]",
			ibv_get_device_name(iwarp));
	if (network->port_num)
		snprintf(port, sizeof(port), "%d", network->port_num);
	if (network->device || network->port_num)
		return log_fail(
			"device %s, port %s: there is no such active port of RoCE or InfiniBand here%s; see `rdma link` [docs/troubleshooting.md#no-active-port]",
			network->device ? network->device : "(any)", port,
			local ? " with the address in use" : "");
	if (local)
		return addr_explain_no_device(local);
	return log_fail(
		"no RDMA device that this user may open has an active port; see `rdma link`, and is its netdev up [docs/troubleshooting.md#no-active-port]");
}

static int start(struct device *device)
{
	struct ibv_context *verbs = device->verbs;

	log_line("Opened RDMA device: %s, port %d",
		 ibv_get_device_name(verbs->device), device->port_num);
	if (wait_nonblocking(verbs->async_fd, "ibv_open_device"))
		return -1;
	return watcher_start(&device->watcher, verbs->async_fd, event_take,
			     verbs);
}

int device_open(struct device *list, int most, const struct network *network,
		const struct sockaddr *local)
{
	struct ibv_device **candidates = ibv_get_device_list(NULL);
	int count = 0;

	if (!candidates)
		return explain_call("ibv_get_device_list", errno);
	for (enum fit fit = FIT_WELL; fit != FIT_NOT && !count; fit--)
		count = open_devices(list, most, candidates, network, local,
				     fit);
	if (!count)
		explain_none(candidates, network, local);
	/* An open context keeps what it needs of the list. */
	ibv_free_device_list(candidates);
	for (int i = 0; i < count; i++)
		if (start(&list[i]))
			return -1;
	return count ? 0 : -1;
}

const struct device *device_find(const struct device *list, int most,
				 const struct network *network,
				 const struct sockaddr *local)
{
	for (enum fit fit = FIT_WELL; fit != FIT_NOT; fit--)
		for (int i = 0; i < most && list[i].verbs; i++)
			if (find_fit(&list[i], network, local) == fit)
				return &list[i];
	addr_explain_no_device(local);
	return NULL;
}

void device_close(struct device *list, int most)
{
	for (int i = 0; i < most && list[i].verbs; i++) {
		watcher_stop(&list[i].watcher);
		if (ibv_close_device(list[i].verbs))
			explain_call("ibv_close_device", errno);
		list[i] = (struct device){ 0 };
	}
}
