/*
 * devices.c - which of a machine's RDMA devices, and which of their ports
 */
#include "devices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "addr.h"
#include "log.h"

/* Whether options allow a device of that name. */
static bool is_meant(const struct options *options, struct ibv_device *device)
{
	return !options->device ||
	       !strcmp(options->device, ibv_get_device_name(device));
}

/*
 * Whether options allow the device. An iWARP device has Ethernet ports, too,
 * but its queue pairs connect over TCP, not by hand.
 */
static bool is_candidate(const struct options *options,
			 struct ibv_device *candidate)
{
	return candidate->transport_type == IBV_TRANSPORT_IB &&
	       is_meant(options, candidate);
}

/* An iWARP device that options allow; NULL if they allow others, too. */
static struct ibv_device *only_iwarp(struct ibv_device **list,
				     const struct options *options)
{
	struct ibv_device *found = NULL;

	for (; *list; list++) {
		if (is_candidate(options, *list))
			return NULL;
		if ((*list)->transport_type == IBV_TRANSPORT_IWARP &&
		    is_meant(options, *list))
			found = *list;
	}
	return found;
}

/* How sure we are that packets for an address use a port. */
enum fit {
	FIT_NOT,
	FIT_PERHAPS, /* InfiniBand: the address may be of its IPoIB netdev */
	FIT_WELL /* it has the address, or any will do */
};

/* How well the port, as it is now, fits local; NULL: any address. */
static enum fit find_fit(const struct device *device,
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
	return device_find_gid(device, &port, local) >= 0 ? FIT_WELL : FIT_NOT;
}

/* DEVICES_READS, or what the device can do if that is less. */
static int reads(int device_max)
{
	return device_max < DEVICES_READS ? device_max : DEVICES_READS;
}

/*
 * Asks the open device how many reads it can do at a time, and notes how many
 * we will ask for. Returns how many ports it has, which are counted from 1; 0
 * if it does not answer.
 */
static int ask_limits(struct device *device)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(device->verbs, &attr))
		return 0;
	device->reads_in = reads(attr.max_qp_rd_atom);
	device->reads_out = reads(attr.max_qp_init_rd_atom);
	return attr.phys_port_cnt;
}

/*
 * Opens a device and finds the first port, from device->port_num on, whose fit
 * for local is fit. If there is none, closes the device again.
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
	ports = ask_limits(device);
	for (; device->port_num <= ports; device->port_num++) {
		if (options->port_num && options->port_num != device->port_num)
			continue;
		if (ibv_query_port(device->verbs, device->port_num, &port))
			continue;
		device->link_layer = port.link_layer;
		if (find_fit(device, local) == fit)
			return true;
	}
	/* Nothing was made in this context, so closing it cannot fail. */
	ibv_close_device(device->verbs);
	device->verbs = NULL;
	return false;
}

static int explain_no_device(struct ibv_device **list,
			     const struct options *options,
			     const struct sockaddr *local)
{
	struct ibv_device *iwarp = only_iwarp(list, options);
	char port[16] = "(any)";

	if (!*list)
		return log_fail(
			"this machine has no RDMA device; sudo scripts/setup_rxe.sh, or use the lab: scripts/lab.sh shell [docs/troubleshooting.md#no-device]");
	if (iwarp)
		return log_fail(
			"%s is an iWARP device, whose queue pairs only the connection manager can connect; use chapter 01, 02 or 07, or RoCE: sudo scripts/setup_rxe.sh [docs/troubleshooting.md#iwarp]",
			ibv_get_device_name(iwarp));
	if (options->port_num)
		snprintf(port, sizeof(port), "%d", options->port_num);
	if (options->device || options->port_num)
		return log_fail(
			"device %s, port %s: there is no such active port of RoCE or InfiniBand here%s; see `rdma link` [docs/troubleshooting.md#no-active-port]",
			options->device ? options->device : "(any)", port,
			local ? " with the address in use" : "");
	if (local)
		return addr_explain_no_device(local);
	return log_fail(
		"no RDMA device that this user may open has an active port; see `rdma link`, and is its netdev up [docs/troubleshooting.md#no-active-port]");
}

/* Opens up to max ports in list whose fit for local is fit. */
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
			/* Each port counts as a device of its own here. */
			port_num = device->port_num + 1;
			count++;
		}
	}
	return count;
}

/* Opens 1 to max ports; *count says how many. Returns 0 or -1. */
static int open_all(struct device *devices, unsigned int max,
		    unsigned int *count, const struct options *options,
		    const struct sockaddr *local)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	*count = 0;
	if (!list)
		return log_fail_errno(
			"ibv_get_device_list", errno,
			"is the module ib_uverbs loaded; see scripts/setup_rxe.sh --check [docs/troubleshooting.md#no-device]");
	for (enum fit fit = FIT_WELL; fit != FIT_NOT && !*count; fit--)
		*count = open_ports(devices, max, list, options, local, fit);
	if (!*count)
		explain_no_device(list, options, local);
	/* An open context keeps what it needs of the list. */
	ibv_free_device_list(list);
	if (!*count)
		return -1;
	for (unsigned int i = 0; i < *count; i++)
		if (device_start(&devices[i]))
			return -1;
	return 0;
}

int devices_open_one(struct device *device, const struct options *options,
		     const struct sockaddr *local)
{
	unsigned int count;

	return open_all(device, 1, &count, options, local);
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

const struct device *devices_find(const struct devices *devices,
				  const struct sockaddr *local)
{
	for (enum fit fit = FIT_WELL; fit != FIT_NOT; fit--)
		for (unsigned int i = 0; i < devices->count; i++)
			if (find_fit(&devices->list[i], local) == fit)
				return &devices->list[i];
	addr_explain_no_device(local);
	return NULL;
}
