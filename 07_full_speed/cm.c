/*
 * cm.c - the events of the RDMA connection manager (CM)
 */
#include "cm.h"

#include <errno.h>
#include <stdint.h>

#include "cm_help.h"
#include "log.h"

/*
 * Every event must be acknowledged: rdma_destroy_id() waits, without limit, for
 * each event of its id that was not. Acknowledging frees the event.
 */
static int acknowledge(struct rdma_cm_event *event)
{
	if (rdma_ack_cm_event(event))
		return log_fail_errno("rdma_ack_cm_event", errno,
				      "rdma_destroy_id() would now hang");
	return 0;
}

/*
 * Waits until rdma_get_cm_event() gives an event. The library keeps some
 * events to itself, so a readable channel may still turn out to be empty.
 */
static int next_event(struct rdma_event_channel *channel,
		      enum rdma_cm_event_type want,
		      const struct patience *patience,
		      struct rdma_cm_event **event)
{
	int64_t deadline = patience ? wait_deadline(patience->timeout_ms) : 0;

	while (cm_get_event(channel, event)) {
		if (errno != EAGAIN) {
			log_fail_errno("rdma_get_cm_event", errno,
				       "while waiting for %s",
				       rdma_event_str(want));
			return CM_NO_MORE;
		}
		if (!patience)
			return -1;
		if (wait_readable(channel->fd, -1, patience->stop_fd,
				  deadline) < 0)
			return wait_fail(rdma_event_str(want), errno, patience);
	}
	return 0;
}

int cm_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type want,
	      const struct patience *patience, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;
	int ret = next_event(channel, want, patience, &event);

	if (ret)
		return ret;
	if (event->event == want) {
		if (id)
			*id = event->id;
	} else {
		cm_explain_event(event, want);
		ret = event->event == RDMA_CM_EVENT_DEVICE_REMOVAL ?
			      CM_NO_MORE :
			      -1;
	}
	return acknowledge(event) ? -1 : ret;
}

int cm_poll(struct rdma_event_channel *channel, enum rdma_cm_event_type *type)
{
	struct rdma_cm_event *event;

	if (cm_get_event(channel, &event)) {
		if (errno == EAGAIN)
			return 0;
		return log_fail_errno("rdma_get_cm_event", errno,
				      "the event channel is unusable");
	}
	*type = event->event;
	return acknowledge(event) ? -1 : 1;
}
