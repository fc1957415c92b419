/*
 * scripted.h - devices that are and do what rxe cannot, in the order of a test's choice
 *
 * Other devices' ports, limits and tables; asynchronous events and those of the CM;
 * and what is posted, which is noted and completed as the test says. They are played
 * by the functions here, which the program's own linking puts before those of
 * libibverbs and librdmacm.
 */
#ifndef SCRIPTED_H
#define SCRIPTED_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "test.h"

enum {
	PORTS = 2,
	GIDS = 5,
	REGIONS = 8,
	REQUESTS = 1024 /* the deepest queue */
};

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
	uint64_t most_bytes; /* that it registers at a time */
	struct ibv_port_attr ports[PORTS + 1];
	struct fake_gid gids[GIDS];
};

/* A registration; the device may use the memory until gone. */
struct registered {
	struct ibv_mr mr;
	int access;
	int gone; /* the how manieth it was to go, from 1 */
};

static struct scripted {
	struct fake *devices[3];
	int device_count; /* -1: there is no list */
	int lists, opened; /* that are not freed */
	/* Memory. Of the registrations, this one cannot be taken back. */
	struct registered regions[REGIONS];
	int registered, gone, keeps;
	/* What the queue pair was last told. */
	struct ibv_qp_attr told;
	int told_mask;
	/* Each request that was posted, and how many of them are complete. */
	struct {
		struct ibv_send_wr wr;
		struct ibv_sge sge;
	} requests[REQUESTS];
	unsigned int posted, taken, receives;
	unsigned int calls, longest, signalled; /* posts, the longest chain */
	unsigned int most; /* requests at a time */
	unsigned int polls, polled; /* polls, the most asked for in one */
	unsigned int ready; /* requests that it finishes per poll */
	unsigned int fails_at; /* this request fails; 0: none */
	unsigned int refuses_at; /* posting this one fails; 0: none */
	unsigned int message_at; /* in this poll, a message comes; 0: none */
	bool broken; /* polling fails, and asking for events */
	/* The CM: an event, or none. */
	bool no_event;
	struct rdma_cm_event event;
	int unacknowledged;
	/* The device's own events: see ibv_get_async_event(). */
	int events_taken, events_acknowledged;
} dev;

#define UP                                                                 \
	(struct ibv_port_attr)                                             \
	{                                                                  \
		.state = IBV_PORT_ACTIVE,                                  \
		.link_layer = IBV_LINK_LAYER_ETHERNET, .gid_tbl_len = GIDS \
	}
#define V1 IBV_GID_TYPE_ROCE_V1
#define V2 IBV_GID_TYPE_ROCE_V2

/* These are the devices of this machine. */
static inline void use(struct fake *first, struct fake *second)
{
	dev.devices[0] = first;
	dev.devices[1] = second;
	dev.device_count = second ? 2 : first ? 1 : 0;
}

/* A device can be opened more than once, as for each of its ports. */
static inline struct fake *fake_of(struct ibv_context *context)
{
	return (struct fake *)context->device;
}

/* --- which devices there are, and what they are like */

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list;

	if (dev.device_count < 0) {
		errno = ENOSYS;
		return NULL;
	}
	list = calloc(dev.device_count + 1, sizeof(*list));
	for (int i = 0; list && i < dev.device_count; i++)
		list[i] = &dev.devices[i]->device;
	dev.lists++;
	if (count)
		*count = dev.device_count;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
	dev.lists--;
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context;

	if (((struct fake *)device)->cannot_open)
		return NULL;
	context = calloc(1, sizeof(*context));
	assert_non_null(context);
	dev.opened++;
	context->device = device;
	context->async_fd = eventfd(0, 0);
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	if (!dev.opened)
		return 0; /* the test's own */
	dev.opened--;
	close(context->async_fd);
	free(context);
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){
		.phys_port_cnt = PORTS,
		.max_mr_size = fake_of(context)->most_bytes,
		.max_qp_rd_atom = fake_of(context)->reads_in,
		.max_qp_init_rd_atom = fake_of(context)->reads_out,
	};
	return 0;
}

/* verbs.h has macros of these names, which call the functions. */
#undef ibv_query_port
#undef ibv_reg_mr
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

/* --- memory, and the states of a queue pair */

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *buf, size_t size,
				uint64_t iova, unsigned int access)
{
	struct registered *registered = &dev.regions[dev.registered];

	(void)pd;
	assert_true(iova == (uintptr_t)buf && dev.registered < REGIONS);
	*registered = (struct registered){
		.mr = { .addr = buf,
			.length = size,
			.lkey = 0x100 + dev.registered,
			.rkey = 0x200 + dev.registered },
		.access = access,
	};
	dev.registered++;
	return &registered->mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *buf, size_t size, int access)
{
	return ibv_reg_mr_iova2(pd, buf, size, (uintptr_t)buf, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct registered *registered = (struct registered *)mr;
	const char *bytes = mr->addr;

	if (registered == &dev.regions[0] + dev.keeps)
		return EBUSY;
	assert_int_equal(registered->gone, 0);
	/* Freed already? Then a sanitizer ends the test here. */
	assert_true(bytes[0] || !bytes[0]);
	registered->gone = ++dev.gone;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	dev.told = *attr;
	dev.told_mask = mask;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	(void)qp;
	(void)mask;
	(void)init;
	*attr = dev.told;
	return 0;
}

/* --- requests, which complete in order, some at a time */

static inline int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			    struct ibv_send_wr **bad)
{
	unsigned int length = 0, at;

	(void)qp;
	for (; wr; wr = wr->next, length++) {
		if (dev.posted + 1 == dev.refuses_at) {
			*bad = wr;
			return ENOMEM;
		}
		/* What reports has a wr_id, and nothing else has. */
		assert_true(!wr->wr_id ==
			    !(wr->send_flags & IBV_SEND_SIGNALED));
		at = dev.posted++ % REQUESTS;
		dev.requests[at].wr = *wr;
		if (wr->num_sge)
			dev.requests[at].sge = *wr->sg_list;
		dev.signalled += !!(wr->send_flags & IBV_SEND_SIGNALED);
	}
	dev.calls++;
	if (length > dev.longest)
		dev.longest = length;
	if (dev.posted - dev.taken > dev.most)
		dev.most = dev.posted - dev.taken;
	return 0;
}

static inline int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			    struct ibv_recv_wr **bad)
{
	(void)qp;
	(void)bad;
	assert_true(wr->wr_id != 0);
	dev.receives++;
	return 0;
}

static inline int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
				struct ibv_recv_wr **bad)
{
	(void)srq;
	return post_recv(NULL, wr, bad);
}

static inline int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wcs)
{
	unsigned int ready = dev.ready;
	int n = 0;

	(void)cq;
	if (dev.broken)
		return -1;
	if (++dev.polls == dev.message_at) {
		*wcs = (struct ibv_wc){ .wr_id = 1, .opcode = IBV_WC_RECV };
		return 1;
	}
	if ((unsigned int)max > dev.polled)
		dev.polled = max;
	while (n < max && ready-- && dev.taken < dev.posted) {
		struct ibv_send_wr *wr =
			&dev.requests[dev.taken++ % REQUESTS].wr;
		bool fails = dev.taken == dev.fails_at;

		if (!fails && !(wr->send_flags & IBV_SEND_SIGNALED))
			continue;
		wcs[n++] = (struct ibv_wc){
			.wr_id = wr->wr_id,
			.status =
				fails ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS,
		};
	}
	return n;
}

static inline int req_notify(struct ibv_cq *cq, int solicited)
{
	(void)cq;
	(void)solicited;
	return 0;
}

/* A device on which requests are posted; its second port is in use. */
static struct fake plain = { .most_bytes = 5000 };
static struct ibv_context context = {
	.device = &plain.device,
	.ops = { .post_send = post_send,
		 .post_recv = post_recv,
		 .post_srq_recv = post_srq_recv,
		 .poll_cq = poll_cq,
		 .req_notify_cq = req_notify },
};
static struct ibv_pd pd = { .context = &context };
static struct ibv_cq cq = { .context = &context };
static struct ibv_qp qp = { .context = &context, .qp_num = 0x11 };
static struct ibv_mr mr = { .lkey = 7 };

/* Nothing is posted or registered, and all that is asked for works. */
static inline void dev_reset(void)
{
	dev = (struct scripted){ .keeps = -1, .ready = 5 };
	plain.ports[2].max_msg_sz = UINT32_MAX;
	mr.context = &context;
	pd.context = cq.context = qp.context = &context;
}

#endif
