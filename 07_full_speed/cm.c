/*
 * cm.c - the events of the RDMA connection manager (CM)
 */
#include "cm.h"

#include <errno.h>
#include <stdint.h>

#include "cm_help.h"
#include "log.h"

struct rdma_event_channel *cm_open_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (!channel) {
		cm_explain_channel(errno);
		return NULL;
	}
	if (wait_nonblocking(channel->fd, "rdma_create_event_channel")) {
		rdma_destroy_event_channel(channel);
		return NULL;
	}
	return channel;
}

void cm_destroy_id(struct rdma_cm_id **id)
{
	if (*id && rdma_destroy_id(*id))
		log_fail_errno("rdma_destroy_id", errno, "it is lost");
	*id = NULL;
}

/*
 * Every event must be acknowledged: rdma_destroy_id() waits, without limit, for
 * each event of its id that was not. Acknowledging frees the event, and like
 * all that frees, it is over whatever it returns: the event has still happened.
 */
static void acknowledge(struct rdma_cm_event *event)
{
	if (rdma_ack_cm_event(event))
		log_fail_errno("rdma_ack_cm_event", errno,
			       "rdma_destroy_id() may hang");
}

/*
 * rdma_get_cm_event() without the one event that is only a hint: the netdev has
 * a new hardware address, as after a bond's failover. The connection goes on.
 */
static int get_event(struct rdma_event_channel *channel,
		     struct rdma_cm_event **event)
{
	while (!rdma_get_cm_event(channel, event)) {
		if ((*event)->event != RDMA_CM_EVENT_ADDR_CHANGE)
			return 0;
		log_line("%s: only a hint; the connection goes on.",
			 rdma_event_str((*event)->event));
		acknowledge(*event);
	}
	return -1;
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

	while (get_event(channel, event)) {
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
	acknowledge(event);
	return ret;
}

int cm_poll(struct rdma_event_channel *channel, enum rdma_cm_event_type *type)
{
	struct rdma_cm_event *event;

	if (get_event(channel, &event)) {
		if (errno == EAGAIN)
			return 0;
		return log_fail_errno("rdma_get_cm_event", errno,
				      "the event channel is unusable");
	}
	*type = event->event;
	acknowledge(event);
	return 1;
}

int cm_wait_turn(struct rdma_cm_id *id, int comp_fd,
		 const struct patience *patience)
{
	int64_t deadline = wait_deadline(patience->timeout_ms);
	enum rdma_cm_event_type type;
	int news;

	if (!cm_has_turns(id->verbs))
		return 0;
	for (;;) {
		news = wait_readable(comp_fd, id->channel->fd,
				     patience->stop_fd, deadline);
		if (news < 0)
			return wait_fail(
				"the client's message, which comes first over iWARP",
				errno, patience);
		if (news & WAIT_FIRST)
			return 0;
		news = cm_poll(id->channel, &type);
		if (news < 0)
			return -1;
		if (news)
			return log_fail(
				"%s instead of the client's first message; see what the client says [docs/troubleshooting.md#left]",
				rdma_event_str(type));
	}
}
