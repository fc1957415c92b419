/*
 * fake_devices.h - devices for a test, instead of this machine's
 *
 * They are played by the functions here, which the program's own linking puts
 * before those of libibverbs. For one test program: what is not such a
 * function is static. Include it after cmocka.h.
 */
#ifndef FAKE_DEVICES_H
#define FAKE_DEVICES_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define PORTS 2
#define GIDS 5

struct fake_gid {
	int port;
	enum ibv_gid_type type;
	const char *address;
	uint32_t netdev; /* its index; 0: nobody knows */
};

/* One device; a port that is not given is down. */
struct fake {
	struct ibv_device device;
	bool cannot_open;
	int reads_in, reads_out; /* max_qp_rd_atom, max_qp_init_rd_atom */
	struct ibv_port_attr ports[PORTS + 1];
	struct fake_gid gids[GIDS];
};

#define UP                                                                 \
	(struct ibv_port_attr)                                             \
	{                                                                  \
		.state = IBV_PORT_ACTIVE,                                  \
		.link_layer = IBV_LINK_LAYER_ETHERNET, .gid_tbl_len = GIDS \
	}
#define V1 IBV_GID_TYPE_ROCE_V1
#define V2 IBV_GID_TYPE_ROCE_V2

static struct fake *fakes[3];
static int fake_count;
static int lists, opened;

/* A device can be opened more than once, as for each of its ports. */
static struct fake *fake_of(struct ibv_context *context)
{
	return (struct fake *)context->device;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list;

	if (fake_count < 0) {
		errno = ENOSYS;
		return NULL;
	}
	list = calloc(fake_count + 1, sizeof(*list));
	for (int i = 0; list && i < fake_count; i++)
		list[i] = &fakes[i]->device;
	lists++;
	if (count)
		*count = fake_count;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
	lists--;
}

const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	struct ibv_context *context;

	if (((struct fake *)dev)->cannot_open)
		return NULL;
	context = calloc(1, sizeof(*context));
	assert_non_null(context);
	opened++;
	context->device = dev;
	context->async_fd = eventfd(0, 0);
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	opened--;
	close(context->async_fd);
	free(context);
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){
		.phys_port_cnt = PORTS,
		.max_qp_rd_atom = fake_of(context)->reads_in,
		.max_qp_init_rd_atom = fake_of(context)->reads_out,
	};
	return 0;
}

/* verbs.h has a macro of this name, which calls the function. */
#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port,
		   struct _compat_ibv_port_attr *attr)
{
	if (port < 1 || port > PORTS)
		return EINVAL;
	*(struct ibv_port_attr *)attr = fake_of(context)->ports[port];
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port,
		      uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	const struct fake_gid *gid = &fake_of(context)->gids[index];

	assert_true(index < GIDS && size == sizeof(*entry) && !flags);
	if (!gid->address || gid->port != (int)port)
		return ENODATA;
	*entry = (struct ibv_gid_entry){
		.gid_index = index,
		.port_num = port,
		.gid_type = gid->type,
		.ndev_ifindex = gid->netdev,
	};
	inet_pton(AF_INET6, gid->address, entry->gid.raw);
	return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index,
		  union ibv_gid *gid)
{
	const struct fake_gid *gids = fake_of(context)->gids;

	(void)port;
	errno = EINVAL;
	if (index >= GIDS)
		return -1;
	memset(gid, 0, sizeof(*gid));
	if (gids[index].address)
		inet_pton(AF_INET6, gids[index].address, gid->raw);
	return 0;
}

#endif
