/*
 * explain_cm.h - what the connection manager reports, and what to try
 */
#ifndef EXPLAIN_CM_H
#define EXPLAIN_CM_H

#include <netdb.h>

#include <rdma/rdma_cma.h>

#include "explain.h"

/*
 * Each prints one line, as log_fail() does, and returns -1.
 *
 * Says that no route to ai could be resolved, with err.
 */
int explain_route(const struct addrinfo *ai, int err);

/* Says that rdma_bind_addr() to ai failed with err: address, or only port? */
int explain_bind(struct rdma_cm_id *id, const struct addrinfo *ai, int err);

/* Says that event came instead of one of type want. */
int explain_event(const struct rdma_cm_event *event,
		  enum rdma_cm_event_type want);

/* Says that event came while messages were waited for. */
int explain_news(const struct rdma_cm_event *event);

#endif
