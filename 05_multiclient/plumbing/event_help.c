/*
 * event_help.c - asynchronous events in words
 */
#include "event_help.h"

#include <errno.h>

#include "log.h"

static void event_print(const struct ibv_async_event *event)
{
	const char *name = ibv_event_type_str(event->event_type);

	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		log_line("[async] %s (QPN 0x%06x)", name,
			 event->element.qp->qp_num);
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_GID_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		log_line("[async] %s (port_num %d)", name,
			 event->element.port_num);
		break;
	default:
		log_line("[async] %s", name);
	}
}

int event_take(void *context)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event)) {
		if (errno == EAGAIN)
			return 0;
		return log_fail_errno("ibv_get_async_event", errno,
				      "no more events will be named");
	}
	event_print(&event);
	/* ibv_destroy_qp() and its like wait until all are acknowledged. */
	ibv_ack_async_event(&event);
	return 0;
}
