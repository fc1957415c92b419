/*
 * explain.h - what a failure means, and what to try
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include <netdb.h>

#include <rdma/rdma_cma.h>

/*
 * Each prints one line, as log_fail() does, and returns -1.
 *
 * Says that a call failed with err, an errno; 0 where the call gives none.
 */
int explain_call(const char *call, int err);

/* Says that ibv_reg_mr() of size bytes failed with err. */
int explain_memory(size_t size, int err);

/* Says that no route to ai could be resolved, with err. */
int explain_route(const struct addrinfo *ai, int err);

/* Says that rdma_bind_addr() to ai failed with err: address, or only port? */
int explain_bind(struct rdma_cm_id *id, const struct addrinfo *ai, int err);

/* Says that event came instead of one of type want. */
int explain_event(const struct rdma_cm_event *event,
		  enum rdma_cm_event_type want);

/* Says that event came while messages were waited for. */
int explain_news(const struct rdma_cm_event *event);

/*
 * Says that what was posted failed. Reads only what is defined in a failed
 * completion: ibv_poll_cq(3).
 */
int explain_completion(const char *what, const struct ibv_wc *wc);

#endif
