/*
 * verbs.c - memory, requests and their completions
 */
#include "rdma.h"

#include <errno.h>
#include <stdlib.h>

#include "explain.h"
#include "log.h"

/* Asks for an event at the next completion: for one event, once. */
static int arm(struct conn *conn)
{
	int err = ibv_req_notify_cq(conn->cq, 0);

	conn->armed = !err;
	return err ? explain_call("ibv_req_notify_cq", err) : 0;
}

int conn_create_cq(struct conn *conn, struct ibv_context *verbs, int entries)
{
	conn->pd = ibv_alloc_pd(verbs);
	if (!conn->pd)
		return explain_call("ibv_alloc_pd", errno);
	conn->comp = ibv_create_comp_channel(verbs);
	if (!conn->comp)
		return explain_call("ibv_create_comp_channel", errno);
	if (wait_nonblocking(conn->comp->fd, "ibv_create_comp_channel"))
		return -1;
	conn->cq = ibv_create_cq(verbs, entries, NULL, conn->comp, 0);
	if (!conn->cq)
		return explain_call("ibv_create_cq", errno);
	/* Nothing is posted yet, so no completion can come before this. */
	return arm(conn);
}

int region_open(struct region *region, struct conn *conn, size_t size,
		int access)
{
	/* Zeroed, so that a mistake cannot send an old secret. */
	region->buf = calloc(1, size);
	if (!region->buf)
		return explain_call("calloc", errno);
	region->size = size;
	region->mr = ibv_reg_mr(conn->pd, region->buf, size, access);
	return region->mr ? 0 : explain_memory(size, errno);
}

void region_close(struct region *region)
{
	int err = region->mr ? ibv_dereg_mr(region->mr) : 0;

	/* On failure the device may still use the memory: better to lose it. */
	if (err) {
		explain_call("ibv_dereg_mr", err);
		return;
	}
	free(region->buf);
	*region = (struct region){ 0 };
}

int conn_post_recv(struct conn *conn, const struct region *region, void *buf,
		   uint32_t length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.length = length,
		.lkey = region->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		/* The completion returns it, to tell the requests apart. */
		.wr_id = (uintptr_t)buf,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err = ibv_post_recv(conn->qp, &wr, &bad);

	if (err)
		return explain_call("ibv_post_recv", err);
	conn->pending++;
	return 0;
}

int conn_post(struct conn *conn, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int err;

	/* Without this, a request that succeeds has no completion. */
	wr->send_flags |= IBV_SEND_SIGNALED;
	err = ibv_post_send(conn->qp, wr, &bad);
	if (err)
		return explain_call("ibv_post_send", err);
	conn->pending++;
	return 0;
}

/* Takes the event that made the completion channel readable. */
static int take_cq_event(struct conn *conn)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(conn->comp, &cq, &context))
		return errno == EAGAIN ?
			       0 :
			       explain_call("ibv_get_cq_event", errno);
	/* ibv_destroy_cq() waits, without limit, until all are acknowledged. */
	ibv_ack_cq_events(cq, 1);
	return arm(conn);
}

int conn_wait(struct conn *conn, struct ibv_wc *wc)
{
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);
	const char *what = conn->awaits ? conn->awaits : "a completion";
	int n, news;

	/*
	 * The CQ is armed whenever we poll it. So a completion that comes
	 * between the poll and the sleep makes an event, which ends the sleep.
	 */
	while ((n = ibv_poll_cq(conn->cq, 1, wc)) == 0) {
		news = wait_readable(conn->comp->fd, conn_fd(conn),
				     conn->patience.stop_fd, deadline);
		if (news < 0)
			return wait_fail(what, errno, &conn->patience);
		/* Handle what the peer sent before we handle that it left. */
		if (news & WAIT_FIRST ? take_cq_event(conn) : conn_news(conn))
			return -1;
	}
	if (n < 0)
		return explain_call("ibv_poll_cq", 0);
	conn->pending--;
	return 0;
}

int conn_to_err(struct conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int err = ibv_modify_qp(conn->qp, &attr, IBV_QP_STATE);

	return err ? explain_call("ibv_modify_qp", err) : 0;
}

int conn_flush(struct conn *conn)
{
	int err = 0, flushed = 0;
	struct ibv_wc wc;

	/* From here on, neither a signal nor the peer ends a wait early. */
	conn->ending = true;
	conn->patience.stop_fd = -1;
	conn->awaits = "the flush of all posted requests";
	if (conn->pending)
		err = conn_to_err(conn);
	/* If arming the CQ is what has failed, no event would come. */
	if (conn->pending && !err && !conn->armed)
		err = arm(conn);
	/* Until a request completes, its memory belongs to the device. */
	while (conn->pending && !err) {
		err = conn_wait(conn, &wc);
		flushed += !err && wc.status == IBV_WC_WR_FLUSH_ERR;
	}
	return flushed;
}

int conn_destroy_cq(struct conn *conn)
{
	int err, ret = 0;

	if (conn->cq && (err = ibv_destroy_cq(conn->cq)))
		ret = explain_call("ibv_destroy_cq", err);
	if (conn->comp && (err = ibv_destroy_comp_channel(conn->comp)))
		ret = explain_call("ibv_destroy_comp_channel", err);
	if (conn->pd && (err = ibv_dealloc_pd(conn->pd)))
		ret = explain_call("ibv_dealloc_pd", err);
	return ret;
}
