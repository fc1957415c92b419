/*
 * log_wc.h - what a failed completion means
 */
#ifndef LOG_WC_H
#define LOG_WC_H

#include <infiniband/verbs.h>

/*
 * Names a completion whose status is not success: what was asked for (what),
 * the status, its meaning and what to try. Reads only the fields that are
 * defined in a failed completion (ibv_poll_cq(3)). Always returns -1.
 */
int log_fail_wc(const char *what, const struct ibv_wc *wc);

#endif
