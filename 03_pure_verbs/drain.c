/*
 * drain.c - the end of a queue pair: every posted request must report
 *
 * Until its completion is there, a request's memory belongs to the device.
 * So the requests are counted when they are posted and when they complete,
 * and what is left is waited for. A marker posted last would not do: receives
 * that are posted to a queue pair in ERR may never come back.
 */
#include <errno.h>

#include "conn.h"
#include "log.h"
#include "qp.h"

int conn_to_err(struct conn *conn)
{
	/* In RESET nothing is posted, and no way leads from there to ERR. */
	if (conn->failed || conn->qp->state == IBV_QPS_RESET)
		return 0;
	conn->failed = true;
	return qp_to_err(conn->qp);
}

/* Takes what the CQ has; returns how many were flushed, or -1. */
static int take_completions(struct conn *conn)
{
	struct ibv_wc wc;
	int flushed = 0, n;

	while ((n = ibv_poll_cq(conn->cq, 1, &wc)) > 0) {
		/* 0: a request that was to report only if it failed. */
		if (!wc.wr_id)
			continue;
		conn->pending--;
		if (wc.status == IBV_WC_WR_FLUSH_ERR)
			flushed++;
	}
	if (n < 0)
		return log_fail_errno("ibv_poll_cq", 0, "the CQ is unusable");
	return flushed;
}

int conn_drain(struct conn *conn)
{
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);
	int flushed = 0, n;

	if (!conn->qp)
		return 0;
	if (conn_to_err(conn))
		return -1;
	for (;;) {
		n = take_completions(conn);
		if (n < 0)
			return -1;
		flushed += n;
		if (!conn->pending)
			break;
		/* Neither a signal nor the peer can end this early. */
		if (wait_readable(conn->comp->fd, -1, -1, deadline) < 0)
			return wait_fail("the flush of all posted requests",
					 errno, &conn->patience);
		if (conn_take_event(conn))
			return -1;
	}
	if (flushed)
		log_line("drained: %d posted requests were flushed.", flushed);
	return 0;
}
