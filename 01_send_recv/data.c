/*
 * data.c - memory regions, posting, and waiting for a completion
 *
 * Born in 01_send_recv.
 */
#include "data.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "log.h"

/* access: what the device may do to the memory beyond reading it. */
static int region_open(struct region *region, struct ibv_pd *pd, size_t size,
		       int access)
{
	/* Zeroed: what is sent by mistake must not be an old secret. */
	region->buf = calloc(1, size);
	if (!region->buf)
		return log_fail_errno("calloc", errno, "%zu bytes", size);
	region->mr = ibv_reg_mr(pd, region->buf, size, access);
	if (!region->mr)
		return log_fail_errno(
			"ibv_reg_mr", errno, "%zu bytes%s", size,
			errno == ENOMEM || errno == EPERM ?
				": this memory is locked, and `ulimit -l` "
				"says how much of it a user may have"
				" [docs/troubleshooting.md#memlock]" :
				"");
	return 0;
}

static void region_close(struct region *region)
{
	int err;

	if (region->mr && (err = ibv_dereg_mr(region->mr))) {
		/* The device may still use the memory: better to lose it. */
		log_fail_errno("ibv_dereg_mr", err, "its memory is not freed");
		return;
	}
	free(region->buf);
	*region = (struct region){ 0 };
}

int data_open(struct data *data, struct conn *conn)
{
	data->conn = conn;
	/* Sending only reads the memory; receiving writes to it. */
	if (region_open(&data->send, conn->pd, DATA_MESSAGE_SIZE, 0))
		return -1;
	return region_open(&data->recv, conn->pd, DATA_MESSAGE_SIZE,
			   IBV_ACCESS_LOCAL_WRITE);
}

void data_close(struct data *data)
{
	region_close(&data->recv);
	region_close(&data->send);
}

int data_post_recv(struct data *data)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data->recv.buf,
		.length = DATA_MESSAGE_SIZE,
		.lkey = data->recv.mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		/* Comes back in the completion: which request was it? */
		.wr_id = (uintptr_t)&data->recv,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err = ibv_post_recv(data->conn->qp, &wr, &bad);

	if (err)
		return log_fail_errno("ibv_post_recv", err,
				      "are more posted than max_recv_wr"
				      " [docs/troubleshooting.md#post]");
	return 0;
}

int data_post_send(struct data *data, size_t length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data->send.buf,
		.length = length,
		.lkey = data->send.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = (uintptr_t)&data->send,
		.sg_list = &sge,
		/* Some devices take a length of 0 for 2^31. */
		.num_sge = length ? 1 : 0,
		.opcode = IBV_WR_SEND,
		/* Without this, a send that succeeds says nothing. */
		.send_flags = IBV_SEND_SIGNALED,
	};
	int err = ibv_post_send(data->conn->qp, &wr, &bad);

	if (err)
		return log_fail_errno("ibv_post_send", err,
				      "are more posted than max_send_wr"
				      " [docs/troubleshooting.md#post]");
	return 0;
}

/* Takes the event that made the completion channel readable. */
static int take_cq_event(struct conn *conn)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(conn->comp, &cq, &context)) {
		if (errno == EAGAIN)
			return 0;
		return log_fail_errno("ibv_get_cq_event", errno,
				      "the completion channel is unusable");
	}
	/* ibv_destroy_cq() waits, without a limit, for each one missing. */
	ibv_ack_cq_events(cq, 1);
	return 0;
}

/* Sleeps until the CQ or the peer has news; the CQ must be armed. */
static int sleep_for_news(struct conn *conn, int64_t deadline)
{
	int news = wait_readable(conn->comp->fd, conn_peer_fd(conn),
				 conn->patience.stop_fd, deadline);

	if (news < 0)
		return wait_fail("a completion", errno, &conn->patience);
	/* What the peer did before it left comes before its leaving. */
	if (news & WAIT_FIRST)
		return take_cq_event(conn);
	return conn_check_peer(conn);
}

/* Takes one completion off the CQ as soon as there is one. */
static int next_completion(struct conn *conn, struct ibv_wc *wc)
{
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);
	int err, n;

	for (;;) {
		/*
		 * Arm first, look then: a completion that arrives between
		 * the look and the sleep would otherwise wake nobody.
		 */
		err = ibv_req_notify_cq(conn->cq, 0);
		if (err)
			return log_fail_errno("ibv_req_notify_cq", err,
					      "the CQ is unusable");
		n = ibv_poll_cq(conn->cq, 1, wc);
		if (n < 0)
			return log_fail_errno("ibv_poll_cq", 0,
					      "the CQ is unusable");
		if (n > 0)
			return 0;
		if (sleep_for_news(conn, deadline))
			return -1;
	}
}

int data_wait(struct data *data, struct ibv_wc *wc)
{
	if (next_completion(data->conn, wc))
		return -1;
	log_line("wc->status = %d (%s)", wc->status,
		 ibv_wc_status_str(wc->status));
	if (wc->status != IBV_WC_SUCCESS)
		return log_fail_wc(wc->wr_id == (uintptr_t)&data->recv ?
					   "receive" :
					   "send",
				   wc);
	return 0;
}
