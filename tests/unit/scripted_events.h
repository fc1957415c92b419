/*
 * scripted_events.h - what the device of scripted.h and the CM tell a program unasked
 */
#ifndef SCRIPTED_EVENTS_H
#define SCRIPTED_EVENTS_H

#include "scripted.h"

/* A byte in the device's descriptor is an event of that type. */
int ibv_get_async_event(struct ibv_context *of, struct ibv_async_event *event)
{
	static const uint8_t of_ports[] = {
		IBV_EVENT_PORT_ACTIVE,	    IBV_EVENT_PORT_ERR,
		IBV_EVENT_LID_CHANGE,	    IBV_EVENT_PKEY_CHANGE,
		IBV_EVENT_GID_CHANGE,	    IBV_EVENT_SM_CHANGE,
		IBV_EVENT_CLIENT_REREGISTER
	};
	uint8_t type;

	if (dev.broken) {
		errno = EIO;
		return -1;
	}
	if (read(of->async_fd, &type, 1) != 1)
		return -1;
	memset(event, 0, sizeof(*event));
	event->event_type = type;
	if (memchr(of_ports, type, sizeof(of_ports)))
		event->element.port_num = 3;
	else
		event->element.qp = &qp;
	dev.events_taken++;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
	__atomic_add_fetch(&dev.events_acknowledged, 1, __ATOMIC_SEQ_CST);
}

/* Takes off what made the channel readable, as the kernel does. */
int rdma_get_cm_event(struct rdma_event_channel *from,
		      struct rdma_cm_event **event)
{
	char bytes[8];

	if (dev.no_event) {
		while (read(from->fd, bytes, sizeof(bytes)) > 0)
			;
		errno = EAGAIN;
		return -1;
	}
	*event = &dev.event;
	dev.unacknowledged++;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	dev.unacknowledged--;
	/* The event is freed: what it held must have been read before. */
	memset(event, 0xff, sizeof(*event));
	return 0;
}

/* Events that nobody waits for: how they are named, and what they mean. */
static const struct {
	enum rdma_cm_event_type event;
	int status;
	const char *named, *meaning;
} surprises[] = {
#define EVENT(name, status, named, meaning)                                   \
	{                                                                     \
		RDMA_CM_EVENT_##name, status,                                 \
			"RDMA_CM_EVENT_" #name " (status " named ")", meaning \
	}
	EVENT(REJECTED, 8, "8", "no server listens"),
	EVENT(REJECTED, 28, "28", "program refused"),
	EVENT(REJECTED, 10, "10", "older connection"),
	EVENT(REJECTED, 4, "4", "gave up"),
	EVENT(REJECTED, -ECONNRESET, "-104, Connection reset by peer",
	      "over iWARP, the server ended the TCP connection"),
	EVENT(REJECTED, 33, "33", "12.6.7.2"),
	EVENT(ADDR_ERROR, -ETIMEDOUT, "-110, Connection timed out",
	      "nobody has that address"),
	EVENT(ADDR_ERROR, -ENODEV, "-19, No such device", "no RDMA device"),
	EVENT(ADDR_ERROR, -1, "-1", "uverbs"),
	EVENT(ROUTE_ERROR, -EHOSTUNREACH, "-113, No route to host", "path"),
	EVENT(UNREACHABLE, -ETIMEDOUT, "-110, Connection timed out", "4791"),
	EVENT(CONNECT_ERROR, -EINVAL, "-22, Invalid argument", "failed"),
	/* What librdmacm says when it could not move the QP itself. */
	EVENT(CONNECT_ERROR, -1, "-1", "failed"),
	EVENT(DEVICE_REMOVAL, 0, "0", "removed"),
	EVENT(TIMEWAIT_EXIT, 0, "0", "protocol"),
#undef EVENT
};

#endif
