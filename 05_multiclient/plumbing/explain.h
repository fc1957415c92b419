/*
 * explain.h - what a failure means, and what to try
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include <stddef.h>

#include <infiniband/verbs.h>

/*
 * Each prints one line, as log_fail() does, and returns -1.
 *
 * Says that a call failed with err, an errno; 0 where the call gives none.
 */
int explain_call(const char *call, int err);

/* Says that ibv_reg_mr() of size bytes failed with err. */
int explain_memory(size_t size, int err);

/*
 * Says that what was posted failed. Reads only what is defined in a failed
 * completion: ibv_poll_cq(3).
 */
int explain_completion(const char *what, const struct ibv_wc *wc);

#endif
