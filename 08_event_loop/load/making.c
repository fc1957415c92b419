/*
 * making.c - how the connections of a crowd come
 */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <unistd.h>

#include "crowd.h"
#include "explain.h"
#include "explain_cm.h"
#include "log.h"
#include "pattern.h"

/* How many events of the CM one turn handles at most. */
#define EVENTS 16

/* ---- What all share ---- */

int crowd_arm(struct crowd *crowd)
{
	int err = ibv_req_notify_cq(crowd->all.cq, 0);

	return err ? explain_call("ibv_req_notify_cq", err) : 0;
}

static int open_queues(struct crowd *crowd)
{
	struct conn *all = &crowd->all;
	/* A message, or all of them, and the echo. */
	unsigned int each = crowd->greedy ? crowd->greedy + 1 : 2;
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = crowd->depth, .max_sge = 1 },
	};

	all->pd = ibv_alloc_pd(crowd->verbs);
	if (!all->pd)
		return explain_call("ibv_alloc_pd", errno);
	all->comp = ibv_create_comp_channel(crowd->verbs);
	if (!all->comp)
		return explain_call("ibv_create_comp_channel", errno);
	if (wait_nonblocking(all->comp->fd, "ibv_create_comp_channel"))
		return -1;
	all->cq = ibv_create_cq(crowd->verbs, each * crowd->depth, NULL,
				all->comp, 0);
	if (!all->cq)
		return explain_call("ibv_create_cq", errno);
	crowd->srq = ibv_create_srq(all->pd, &attr);
	if (!crowd->srq)
		return explain_call("ibv_create_srq", errno);
	return crowd_arm(crowd);
}

/* The first that has found the device opens it for all. */
static int open_all(struct crowd *crowd, struct ibv_context *verbs)
{
	char *data;

	crowd->verbs = verbs;
	if (open_queues(crowd) ||
	    region_open(&crowd->came, &crowd->all,
			(size_t)crowd->depth * crowd->bytes,
			IBV_ACCESS_LOCAL_WRITE) ||
	    region_open(&crowd->data, &crowd->all, crowd->bytes, 0))
		return -1;
	data = crowd->data.buf;
	snprintf(data, crowd->bytes,
		 "message from active/client side with pid %d", getpid());
	pattern_fill(data, crowd->bytes);
	for (unsigned int i = 0; i < crowd->depth && !crowd->greedy; i++)
		if (crowd_post_receive(crowd, i))
			return -1;
	return 0;
}

/* ---- One of them comes ---- */

/* The route to the server is known: connects. */
static int connect_asker(struct crowd *crowd, struct asker *asker)
{
	struct rdma_conn_param param = { .retry_count = 6,
					 .rnr_retry_count = 6 };
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = crowd->all.cq,
		.recv_cq = crowd->all.cq,
		.srq = crowd->srq,
		.cap = { .max_send_wr = crowd->greedy ? crowd->greedy : 1,
			 .max_send_sge = 1 },
	};
	/* As the server. */
	uint8_t timeout = 18;

	if (rdma_set_option(asker->id, RDMA_OPTION_ID,
			    RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			    sizeof(timeout)))
		return explain_call("rdma_set_option", errno);
	if (rdma_create_qp(asker->id, crowd->all.pd, &attr))
		return explain_call("rdma_create_qp", errno);
	asker->qp_num = asker->id->qp->qp_num;
	if (!tsearch(asker, &crowd->by_number, crowd_compare))
		return explain_call("tsearch", ENOMEM);
	if (rdma_connect(asker->id, &param))
		return explain_call("rdma_connect", errno);
	return 0;
}

/* Less than our own deadline, so that the CM says why. */
static int resolve_ms(const struct crowd *crowd)
{
	int half = crowd->patience.timeout_ms / 2;

	return half < 2000 ? half : 2000;
}

void crowd_begin(struct crowd *crowd, struct asker *asker)
{
	if (rdma_create_id(crowd->all.events, &asker->id, asker, RDMA_PS_TCP)) {
		explain_call("rdma_create_id", errno);
		crowd->failed++;
		asker->state = ASKER_GONE;
		return;
	}
	asker->state = ASKER_MAKING;
	crowd->here++;
	crowd->making++;
	if (rdma_resolve_addr(asker->id, NULL, crowd->server->ai_addr,
			      resolve_ms(crowd))) {
		explain_call("rdma_resolve_addr", errno);
		crowd_leave(crowd, asker);
	}
}

/* What the CM says of one of them. Returns 0, or -1: it has to leave. */
static int on_event(struct crowd *crowd, struct asker *asker,
		    const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(asker->id, resolve_ms(crowd)))
			return explain_call("rdma_resolve_route", errno);
		return 0;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return connect_asker(crowd, asker);
	case RDMA_CM_EVENT_ESTABLISHED:
		asker->state = ASKER_READY;
		crowd->making--;
		crowd->ready++;
		crowd_progress(crowd);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		return -1;
	case RDMA_CM_EVENT_REJECTED:
		asker->refused = true;
		/* fall through */
	default:
		return explain_event(event, RDMA_CM_EVENT_ESTABLISHED);
	}
}

/* Returns 0, or -1: all are lost. */
static int on_cm_event(struct crowd *crowd, const struct rdma_cm_event *event)
{
	struct asker *asker = event->id->context;

	if (event->event == RDMA_CM_EVENT_ADDR_CHANGE ||
	    event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT ||
	    asker->state >= ASKER_LEAVING)
		return 0;
	if (event->event == RDMA_CM_EVENT_ROUTE_RESOLVED && !crowd->verbs &&
	    open_all(crowd, event->id->verbs))
		return -1;
	crowd_tell_of(crowd, asker);
	if (on_event(crowd, asker, event))
		crowd_leave(crowd, asker);
	crowd_tell_of(crowd, NULL);
	return 0;
}

int crowd_on_cm(struct crowd *crowd)
{
	struct rdma_cm_event *event, copy;

	for (int i = 0; i < EVENTS; i++) {
		if (rdma_get_cm_event(crowd->all.events, &event))
			return errno == EAGAIN ?
				       0 :
				       explain_call("rdma_get_cm_event", errno);
		copy = *event;
		if (rdma_ack_cm_event(event))
			return explain_call("rdma_ack_cm_event", errno);
		if (on_cm_event(crowd, &copy))
			return -1;
	}
	return 0;
}
