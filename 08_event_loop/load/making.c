/*
 * making.c - how the connections of a crowd come
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "crowd.h"
#include "explain.h"
#include "explain_cm.h"
#include "log.h"
#include "pattern.h"

/* How many events of the CM one turn handles at most. */
#define EVENTS 16

/* The same for all: what each writes to the server, and asks it about. */
static void fill_request(struct crowd *crowd)
{
	struct request *request = crowd->request.buf;

	request->msg = msg_make(MSG_REQUEST, crowd->writes ? MODE_WRITE : 0, 0,
				0, crowd->bytes);
	snprintf(request->data, crowd->bytes,
		 "message from active/client side with pid %d", getpid());
	pattern_fill(request->data, crowd->bytes);
	crowd->answer = msg_make(MSG_ANSWER, 0,
				 msg_checksum(request->data, crowd->bytes), 0,
				 crowd->bytes);
}

/* The first that has found the device opens it for all. */
static int open_all(struct crowd *crowd, struct ibv_context *verbs)
{
	struct conn *all = &crowd->shared.all;
	/* For all receives, and what each has sent. */
	unsigned int entries = RECEIVES + crowd->count;

	if (shared_open(&crowd->shared, &crowd->loop, verbs, entries,
			crowd->bytes) ||
	    region_open(&crowd->request, all, sizeof(struct request), 0) ||
	    region_open(&crowd->exposed, all,
			(size_t)crowd->bytes * crowd->count,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))
		return -1;
	fill_request(crowd);
	return 0;
}

static int create_qp(struct crowd *crowd, struct asker *asker)
{
	struct shared *shared = &crowd->shared;
	struct rdma_cm_id *id = asker->id;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = shared->all.cq,
		.recv_cq = shared->all.cq,
		.srq = shared->srq,
		.cap = {
			.max_send_wr = 1,
			.max_send_sge = 1,
			.max_inline_data = sizeof(struct msg),
		},
	};
	/* As the server. */
	uint8_t timeout = 18;

	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			    &timeout, sizeof(timeout)))
		return explain_call("rdma_set_option", errno);
	if (rdma_create_qp(id, shared->all.pd, &attr))
		return explain_call("rdma_create_qp", errno);
	shared_add(shared, &asker->member, id->qp->qp_num);
	return 0;
}

/* The route to the server is known: connects. */
static int connect_asker(struct crowd *crowd, struct asker *asker)
{
	struct rdma_conn_param param = { .retry_count = 6,
					 .rnr_retry_count = 6 };

	if (create_qp(crowd, asker))
		return -1;
	if (rdma_connect(asker->id, &param))
		return explain_call("rdma_connect", errno);
	return 0;
}

/* Less than our own deadline, so that the CM says why. */
static int resolve_ms(const struct crowd *crowd)
{
	return crowd->timeout_ms / 2 < 2000 ? crowd->timeout_ms / 2 : 2000;
}

void crowd_begin(struct crowd *crowd, struct asker *asker)
{
	if (rdma_create_id(crowd->events, &asker->id, asker, RDMA_PS_TCP)) {
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
		asker->established = true;
		return crowd_step(crowd, asker, EV_START);
	case RDMA_CM_EVENT_DISCONNECTED:
		return -1;
	case RDMA_CM_EVENT_REJECTED:
		asker->refused = true;
		/* fall through */
	default:
		return explain_event(event, RDMA_CM_EVENT_ESTABLISHED);
	}
}

static int on_cm_event(struct crowd *crowd, const struct rdma_cm_event *event)
{
	struct asker *asker = event->id->context;

	if (event->event == RDMA_CM_EVENT_ADDR_CHANGE ||
	    event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT ||
	    asker->state >= ASKER_LEAVING)
		return 0;
	if (event->event == RDMA_CM_EVENT_ROUTE_RESOLVED &&
	    !crowd->shared.verbs && open_all(crowd, event->id->verbs))
		return -1;
	log_prefix("Client %u: ", crowd_number(crowd, asker));
	if (on_event(crowd, asker, event))
		crowd_leave(crowd, asker);
	log_prefix("%s", "");
	return 0;
}

int crowd_on_cm(void *owner)
{
	struct rdma_cm_event *event, copy;
	struct crowd *crowd = owner;

	for (int i = 0; i < EVENTS; i++) {
		if (rdma_get_cm_event(crowd->events, &event))
			return errno == EAGAIN ?
				       0 :
				       explain_call("rdma_get_cm_event", errno);
		copy = *event;
		if (rdma_ack_cm_event(event))
			return explain_call("rdma_ack_cm_event", errno);
		/* What came before somebody left comes first. */
		crowd->shared.busy = crowd->shared.verbs;
		if (crowd_take(crowd) || on_cm_event(crowd, &copy))
			return -1;
	}
	return 0;
}
