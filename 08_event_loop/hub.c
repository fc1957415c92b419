/*
 * hub.c - what all clients of a device share: a protection domain, a CQ, an SRQ
 */
#include "hub.h"

#include <errno.h>

#include "log.h"
#include "wait.h"

/* Asks for an event at the next completion: for one event, once. */
static int arm(struct hub *hub)
{
	int err = ibv_req_notify_cq(hub->cq, 0);

	if (err)
		return log_fail_errno("ibv_req_notify_cq", err,
				      "the CQ is unusable");
	return 0;
}

/* The completion channel can be read. */
static int on_completions(void *owner)
{
	struct hub *hub = owner;
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(hub->comp, &cq, &context)) {
		if (errno == EAGAIN)
			return 0;
		return log_fail_errno("ibv_get_cq_event", errno,
				      "the completion channel is unusable");
	}
	/* ibv_destroy_cq() waits, without limit, until all are acknowledged. */
	ibv_ack_cq_events(cq, 1);
	/* Armed before it is polled: what comes in between makes an event. */
	hub->busy = true;
	return arm(hub);
}

/* All messages of a queue pair are in the CQ by now: it is in the error state. */
static void on_last(struct hub *hub, uint32_t number)
{
	struct hub_qp *qp = (void *)table_find(&hub->qps, number);

	hub->tells = true;
	/* It may be told of more than once. */
	if (!qp || qp->last)
		return;
	qp->last = true;
	hub_mark(hub, qp);
}

/* What the device says of its own accord. */
static int on_event(void *owner)
{
	struct ibv_async_event event;
	struct hub *hub = owner;

	if (ibv_get_async_event(hub->verbs, &event)) {
		if (errno == EAGAIN)
			return 0;
		return log_fail_errno("ibv_get_async_event", errno,
				      "the device is unusable");
	}
	if (event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
		on_last(hub, event.element.qp->qp_num);
	/* ibv_destroy_qp() and ibv_destroy_srq() wait for this. */
	ibv_ack_async_event(&event);
	switch (event.event_type) {
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		log_line("few receives are left of %u: posting more.",
			 hub->receives.count);
		/* A failure is reported. The receives that are there must do. */
		(void)receives_grow(&hub->receives);
		return 0;
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_DEVICE_FATAL:
		return log_fail(
			"asynchronous event: %s: all clients are lost [docs/troubleshooting.md#cq-overrun]",
			ibv_event_type_str(event.event_type));
	default:
		/* Of a queue pair: the CM and our completions say it, too. */
		return 0;
	}
}

int hub_open(struct hub *hub, struct loop *loop, struct ibv_context *verbs,
	     unsigned int entries, unsigned int clients, size_t bytes)
{
	hub->loop = loop;
	hub->verbs = verbs;
	if (table_open(&hub->qps, clients))
		return -1;
	hub->pd = ibv_alloc_pd(verbs);
	if (!hub->pd)
		return log_fail_errno("ibv_alloc_pd", errno,
				      "see `rdma resource show`");
	hub->comp = ibv_create_comp_channel(verbs);
	if (!hub->comp)
		return log_fail_errno("ibv_create_comp_channel", errno,
				      "see \"ulimit -n\"");
	hub->cq = ibv_create_cq(verbs, entries, NULL, hub->comp, 0);
	if (!hub->cq)
		return log_fail_errno(
			"ibv_create_cq", errno,
			"%u entries; see max_cqe in `ibv_devinfo -v`", entries);
	hub->completions = (struct watch){ hub->comp->fd, on_completions, hub };
	hub->events = (struct watch){ verbs->async_fd, on_event, hub };
	if (wait_nonblocking(hub->comp->fd, "ibv_create_comp_channel") ||
	    wait_nonblocking(verbs->async_fd, "the device") ||
	    loop_add(loop, &hub->completions) || arm(hub) ||
	    receives_open(&hub->receives, hub->pd) ||
	    region_open(&hub->local, hub->pd, bytes, 0))
		return -1;
	/* Last, since the device's descriptor outlives a hub that failed. */
	return loop_add(loop, &hub->events);
}

void hub_close(struct hub *hub)
{
	int err;

	region_close(&hub->local);
	receives_close(&hub->receives);
	if (hub->cq && (err = ibv_destroy_cq(hub->cq)))
		log_fail_errno("ibv_destroy_cq", err, "it is lost");
	if (hub->comp && (err = ibv_destroy_comp_channel(hub->comp)))
		log_fail_errno("ibv_destroy_comp_channel", err, "it is lost");
	if (hub->pd && (err = ibv_dealloc_pd(hub->pd)))
		log_fail_errno("ibv_dealloc_pd", err,
			       "does a memory region of it still exist");
	table_close(&hub->qps);
	*hub = (struct hub){ 0 };
}

/* At how many polls all that is in the CQ now has been taken off. */
static unsigned long drained_at(const struct hub *hub)
{
	/* As in the CQ's size: two of each receive, and two of each client. */
	size_t most = 2 * (hub->receives.count + hub->qps.count);

	return hub->polls + most / HUB_POLL + 1;
}

int hub_poll(struct hub *hub, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(hub->cq, HUB_POLL, wc);

	if (n < 0)
		return log_fail_errno("ibv_poll_cq", 0, "the CQ is unusable");
	hub->polls++;
	hub->busy = n == HUB_POLL;
	if (!hub->busy)
		hub->empty = hub->polls;
	if (!hub->busy || hub->polls >= hub->due) {
		hub->served = hub->busy ? hub->since : hub->loop->now;
		hub->since = hub->loop->now;
		hub->due = drained_at(hub);
	}
	return n;
}

void hub_mark(struct hub *hub, struct hub_qp *qp)
{
	qp->marked = hub->polls;
	qp->due = drained_at(hub);
	hub->busy = true;
}

/*
 * The specification has two ways (IBTA 10.3.1): the CQ was empty since then, or as
 * much was taken off it as it could hold. The first may never come.
 */
bool hub_is_drained(const struct hub *hub, const struct hub_qp *qp)
{
	return hub->empty > qp->marked || hub->polls >= qp->due;
}
