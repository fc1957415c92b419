/*
 * making.c - how the connections of a crowd come and go
 */
#include "making.h"

#include <errno.h>

#include "cm.h"
#include "cm_help.h"
#include "content.h"
#include "log.h"

/* How many events of the CM one turn of the loop handles at most. */
#define CM_BUDGET 16

/* What all connections share, when the first has found the device. */
static int open_hub(struct crowd *crowd, struct ibv_context *verbs)
{
	const struct options *options = crowd->options;
	struct guests *guests = &crowd->guests;
	struct ibv_pd *pd;
	struct data data = { 0 };

	/* For all receives, and a request of each. */
	if (hub_open(&crowd->hub, &crowd->loop, verbs,
		     RECEIVES + options->count, options->count, options->bytes))
		return -1;
	guests->hubs = &crowd->hub;
	while (crowd->hub.receives.wanted < options->count &&
	       crowd->hub.receives.wanted < RECEIVES)
		if (receives_grow(&crowd->hub.receives))
			return -1;
	pd = crowd->hub.pd;
	if (region_open(&crowd->exposed, pd,
			(size_t)options->bytes * options->count,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) ||
	    region_open(&crowd->messages, pd,
			2 * MSG_SIZE * (size_t)options->count, 0))
		return -1;
	data.local = crowd->hub.local;
	content_write(&data, MODE_WRITE, "active/client");
	return 0;
}

/* A part of region, which all connections share, for one of them. */
static struct region part_of(const struct region *region, size_t size,
			     unsigned int i)
{
	return (struct region){ region->buf + i * size, size, region->mr };
}

/* Puts id where old is, NULL being a free place. */
static void keep_id(struct crowd *crowd, const struct rdma_cm_id *old,
		    struct rdma_cm_id *id)
{
	struct rdma_cm_id **at = crowd->ids;

	while (*at != old)
		at++;
	*at = id;
}

/* The route to the server is known: connects. */
static int connect_guest(struct crowd *crowd, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.retry_count = 6,
		.rnr_retry_count = 6,
	};
	struct guest *guest;

	if (!crowd->hub.verbs && open_hub(crowd, id->verbs)) {
		crowd->loop.asked = true;
		return -1;
	}
	guest = guests_add(&crowd->guests, &crowd->hub, id);
	if (!guest)
		return -1;
	keep_id(crowd, id, NULL);
	guest->data.exposed = part_of(&crowd->exposed, crowd->options->bytes,
				      guest->number - 1);
	guest->data.messages =
		part_of(&crowd->messages, 2 * MSG_SIZE, guest->number - 1);
	crowd->askers[guest->number - 1].guest = guest;
	if (!rdma_connect(id, &param))
		return 0;
	cm_explain_connect(errno);
	guests_leave(&crowd->guests, guest);
	return 0;
}

/* One step of a connection that has no guest yet. Returns 0 or -1. */
static int find_way(struct crowd *crowd, struct rdma_cm_id *id,
		    const struct rdma_cm_event *event)
{
	const struct patience patience = { crowd->options->timeout_ms, -1 };

	if (event->event == RDMA_CM_EVENT_ROUTE_RESOLVED)
		return connect_guest(crowd, id);
	if (event->event != RDMA_CM_EVENT_ADDR_RESOLVED) {
		cm_explain_event(event, RDMA_CM_EVENT_ROUTE_RESOLVED);
		return -1;
	}
	if (rdma_resolve_route(id, cm_resolve_ms(&patience)))
		return log_fail_errno("rdma_resolve_route", errno,
				      "compare `rdma link` on both ends");
	return 0;
}

static void start_one(struct crowd *crowd)
{
	const struct patience patience = { crowd->options->timeout_ms, -1 };
	struct rdma_cm_id *id = NULL;

	crowd->started++;
	if (rdma_create_id(crowd->events, &id, NULL, RDMA_PS_TCP))
		cm_explain_create(errno);
	else if (rdma_resolve_addr(id, NULL, crowd->server->ai_addr,
				   cm_resolve_ms(&patience)))
		log_fail_errno(
			"rdma_resolve_addr", errno,
			"compare -a with `ip addr` on the server and `rdma link` here");
	else {
		keep_id(crowd, NULL, id);
		crowd->making++;
		return;
	}
	crowd->failed++;
	cm_destroy_id(&id);
}

int making_start(struct crowd *crowd)
{
	while (crowd->making < crowd->options->jobs &&
	       crowd->started < crowd->options->count)
		start_one(crowd);
	return 0;
}

/* It has ended before it was connected. */
static void on_refused(struct crowd *crowd, struct guest *guest,
		       const struct rdma_cm_event *event)
{
	cm_explain_event(event, RDMA_CM_EVENT_ESTABLISHED);
	crowd->askers[guest->number - 1].refused =
		event->event == RDMA_CM_EVENT_REJECTED;
	guests_leave(&crowd->guests, guest);
}

static void on_guest(struct crowd *crowd, struct guest *guest,
		     const struct rdma_cm_event *event)
{
	log_prefix("Client %u: ", guest->number);
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		guest->conn.established = true;
		if (transfer_event(&guest->transfer, EV_START))
			guests_leave(&crowd->guests, guest);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		guests_left(&crowd->guests, guest);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		on_refused(crowd, guest, event);
	}
	log_prefix("%s", "");
}

int making_on_cm(void *owner)
{
	struct crowd *crowd = owner;
	struct rdma_cm_event *event, copy;

	for (int i = 0; i < CM_BUDGET; i++) {
		if (rdma_get_cm_event(crowd->events, &event)) {
			if (errno == EAGAIN)
				return 0;
			return log_fail_errno("rdma_get_cm_event", errno,
					      "the event channel is unusable");
		}
		copy = *event;
		if (rdma_ack_cm_event(event))
			return log_fail_errno(
				"rdma_ack_cm_event", errno,
				"rdma_destroy_id() would now hang");
		if (copy.event == RDMA_CM_EVENT_ADDR_CHANGE)
			continue;
		if (copy.id->context) {
			on_guest(crowd, copy.id->context, &copy);
			continue;
		}
		if (!find_way(crowd, copy.id, &copy))
			continue;
		crowd->making--;
		crowd->failed++;
		keep_id(crowd, copy.id, NULL);
		cm_destroy_id(&copy.id);
	}
	return 0;
}
