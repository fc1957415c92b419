/*
 * device.c - which device, which port of it, and which address of the port
 */
#include "device.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "addr.h"
#include "event_help.h"
#include "log.h"
#include "wait.h"

bool device_is_roce(const struct device *device)
{
	return device->link_layer == IBV_LINK_LAYER_ETHERNET;
}

void device_gid_of(const struct sockaddr *addr, union ibv_gid *gid)
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

	device_gid_of(local, &gid);
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

enum fit device_fits(const struct device *device, const struct sockaddr *local)
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

int device_ask_limits(struct device *device)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(device->verbs, &attr))
		return 0;
	device->reads_in = attr.max_qp_rd_atom;
	device->reads_out = attr.max_qp_init_rd_atom;
	return attr.phys_port_cnt;
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

static void *watch(void *argument)
{
	struct device *device = argument;
	struct ibv_async_event event;

	while (wait_readable(device->verbs->async_fd, -1, device->quit_fd,
			     wait_deadline(-1)) > 0) {
		if (ibv_get_async_event(device->verbs, &event)) {
			if (errno == EAGAIN)
				continue;
			log_fail_errno("ibv_get_async_event", errno,
				       "no more events will be named");
			break;
		}
		event_print(&event);
		/* ibv_destroy_qp() and its like wait for each one missing. */
		ibv_ack_async_event(&event);
	}
	return NULL;
}

/* Names and acknowledges the device's events, in a thread of its own. */
static int start_watching(struct device *device)
{
	sigset_t all, old;
	int err;

	if (wait_nonblocking(device->verbs->async_fd, "ibv_open_device"))
		return -1;
	device->quit_fd = eventfd(0, EFD_CLOEXEC);
	if (device->quit_fd < 0)
		return log_fail_errno("eventfd", errno, "see \"ulimit -n\"");
	/* Signals are for the main thread: the new one inherits this mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&device->watcher, NULL, watch, device);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		close(device->quit_fd);
		return log_fail_errno("pthread_create", err,
				      "see \"ulimit -u\"");
	}
	device->watched = true;
	return 0;
}

static void stop_watching(struct device *device)
{
	if (!device->watched)
		return;
	/* The first write to an eventfd of our own cannot fail or block. */
	eventfd_write(device->quit_fd, 1);
	pthread_join(device->watcher, NULL);
	close(device->quit_fd);
	device->watched = false;
}

int device_start(struct device *device)
{
	log_line("Opened RDMA device: %s, port %d",
		 ibv_get_device_name(device->verbs->device), device->port_num);
	return start_watching(device);
}

void device_close(struct device *device)
{
	int err;

	stop_watching(device);
	if (device->verbs && (err = ibv_close_device(device->verbs)))
		log_fail_errno("ibv_close_device", err,
			       "does a PD or CQ of it still exist");
	*device = (struct device){ 0 };
}
