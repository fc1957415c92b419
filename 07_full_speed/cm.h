/*
 * cm.h - the events of the RDMA connection manager (CM)
 *
 * The CM answers each request with an event on an event channel. Using the CM
 * mostly means waiting for the right event, which this module does.
 */
#ifndef CM_H
#define CM_H

#include <rdma/rdma_cma.h>

#include "wait.h"

/*
 * Creates an event channel that never blocks its reader. Returns NULL after
 * reporting why. Free it with rdma_destroy_event_channel().
 */
struct rdma_event_channel *cm_open_channel(void);

/* Destroys *id if there is one; a failure is only reported. */
void cm_destroy_id(struct rdma_cm_id **id);

/* What cm_expect() returns if no event will come on the channel any more. */
#define CM_NO_MORE (-2)

/*
 * Waits for the next event on channel, which must be of type want, and
 * acknowledges it. If id is not NULL, *id becomes the event's id: for a
 * CONNECT_REQUEST this is a new one, which the caller then owns. Returns 0;
 * or -1 after reporting which other event came, or that none came in time; or
 * CM_NO_MORE after reporting that the device was removed or the channel is
 * broken. If patience is NULL it does not wait: if there is no event, it
 * returns -1 and reports nothing.
 */
int cm_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type want,
	      const struct patience *patience, struct rdma_cm_id **id);

/*
 * Takes one event off channel if there is one, acknowledges it and writes its
 * type to *type. Returns 1, 0 if there was none, or -1 after reporting why.
 */
int cm_poll(struct rdma_event_channel *channel, enum rdma_cm_event_type *type);

/*
 * Waits, if the network needs it, until the side that has accepted may send.
 * Over TCP (iWARP), that is once the other side's first message has arrived,
 * which makes comp_fd readable; the CQ must be armed. RoCE and InfiniBand need
 * no wait. Returns 0, or -1 after reporting why.
 */
int cm_wait_turn(struct rdma_cm_id *id, int comp_fd,
		 const struct patience *patience);

#endif
