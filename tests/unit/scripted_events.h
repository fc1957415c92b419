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

	if (dev.hints) {
		dev.hints--;
		dev.hint.event = RDMA_CM_EVENT_ADDR_CHANGE;
		*event = &dev.hint;
	} else if (dev.cm_errno) {
		while (read(from->fd, bytes, sizeof(bytes)) > 0)
			;
		errno = dev.cm_errno;
		return -1;
	} else {
		*event = &dev.event;
	}
	dev.unacknowledged++;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	dev.unacknowledged--;
	/* The event is freed: what it held must have been read before. */
	memset(event, 0xff, sizeof(*event));
	if (!dev.ack_errno)
		return 0;
	errno = dev.ack_errno;
	return -1;
}

#endif
