/*
 * device.c - which device, which port of it, and which address of the port
 */
#include "device.h"

#include <errno.h>

#include "addr.h"
#include "event_help.h"
#include "gid.h"
#include "log.h"
#include "wait.h"

bool device_is_roce(const struct device *device)
{
	return device->link_layer == IBV_LINK_LAYER_ETHERNET;
}

int device_find_gid(const struct device *device,
		    const struct ibv_port_attr *port,
		    const struct sockaddr *local)
{
	struct ibv_gid_entry entry;

	/* The query fails for an empty table entry. */
	for (int i = 0; i < port->gid_tbl_len; i++)
		if (!ibv_query_gid_ex(device->verbs, device->port_num, i,
				      &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    gid_is_for(&entry, local))
			return i;
	return -1;
}

int device_source(const struct device *device, const struct sockaddr *local,
		  struct source *source)
{
	int err =
		ibv_query_port(device->verbs, device->port_num, &source->port);

	if (err)
		return log_fail_errno("ibv_query_port", err,
				      "port %d; see `rdma link`",
				      device->port_num);
	source->port.active_mtu =
		network_mtu(&device->network, source->port.active_mtu);
	source->gid_index = device->gid_index;
	if (source->gid_index < 0 && device_is_roce(device))
		source->gid_index =
			device_find_gid(device, &source->port, local);
	else if (source->gid_index < 0)
		source->gid_index = 0;
	if (source->gid_index < 0)
		return addr_explain_no_device(local);
	return gid_query(device->verbs, device->port_num, source->gid_index,
			 device_is_roce(device), &source->gid);
}

int device_start(struct device *device)
{
	log_line("Opened RDMA device: %s, port %d",
		 ibv_get_device_name(device->verbs->device), device->port_num);
	if (wait_nonblocking(device->verbs->async_fd, "ibv_open_device"))
		return -1;
	return watcher_start(&device->watcher, device->verbs->async_fd,
			     event_take, device->verbs);
}

void device_close(struct device *device)
{
	watcher_stop(&device->watcher);
	if (device->verbs && ibv_close_device(device->verbs))
		log_fail_errno("ibv_close_device", errno,
			       "does a PD or CQ of it still exist");
	*device = (struct device){ 0 };
}
