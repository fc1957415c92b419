/*
 * data.c - memory regions, posting, and waiting for a completion
 */
#include "data.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "limit.h"
#include "log.h"
#include "peer.h"
#include "qp.h"

/* access: what the device may do to the memory beyond reading it. */
static int region_open(struct region *region, struct ibv_pd *pd, size_t size,
		       int access)
{
	/* Zeroed, so that a mistake cannot send an old secret. */
	region->buf = calloc(1, size);
	if (!region->buf)
		return log_fail_errno("calloc", errno, "%zu bytes", size);
	region->size = size;
	region->mr = ibv_reg_mr(pd, region->buf, size, access);
	if (!region->mr)
		return log_fail_errno(
			"ibv_reg_mr", errno, "%zu bytes%s", size,
			errno == ENOMEM || errno == EPERM ?
				": this memory is locked, and `ulimit -l` says how much of it a process may have [docs/troubleshooting.md#memlock]" :
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

/* What the device must be allowed to do to the local region in mode. */
static int local_access(enum mode mode)
{
	/* A write only reads what it sends; a read writes what it gets. */
	return mode == MODE_WRITE ? 0 : IBV_ACCESS_LOCAL_WRITE;
}

/* What the peer must be allowed to do to the exposed region in mode. */
static int exposed_access(enum mode mode)
{
	if (mode == MODE_READ)
		return IBV_ACCESS_REMOTE_READ;
	/* The specification requires the local right with the remote one. */
	return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
}

int data_exposed_access(enum mode mode)
{
	/* Only the region needs the local right. */
	return exposed_access(mode) & ~IBV_ACCESS_LOCAL_WRITE;
}

/* Asks for an event at the next completion: for one event, once. */
static int arm(struct conn *conn)
{
	int err = ibv_req_notify_cq(conn->cq, 0);

	conn->armed = !err;
	if (err)
		return log_fail_errno("ibv_req_notify_cq", err,
				      "the CQ is unusable");
	return 0;
}

int data_open(struct data *data, struct conn *conn, enum mode mode, size_t size)
{
	data->conn = conn;
	if (limit_check_bytes(conn->pd->context, conn->device->port_num, size))
		return -1;
	/* Nothing is posted yet, so no completion can come before this. */
	if (arm(conn))
		return -1;
	if (region_open(&data->messages, conn->pd, SLOT_COUNT * MSG_SIZE,
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	if (region_open(&data->local, conn->pd, size, local_access(mode)))
		return -1;
	if (region_open(&data->exposed, conn->pd, size, exposed_access(mode)))
		return -1;
	/* What the peer must know about it goes out with our parameters. */
	conn->mine.mode = mode;
	conn->mine.mem = (struct remote){
		.addr = (uintptr_t)data->exposed.buf,
		.rkey = data->exposed.mr->rkey,
		.length = size,
	};
	return 0;
}

void *data_message(const struct data *data, int slot)
{
	return data->messages.buf + slot * MSG_SIZE;
}

static int post_receive(struct data *data, int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data_message(data, slot),
		.length = MSG_SIZE,
		.lkey = data->messages.mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		/* The completion returns it, to tell the requests apart. */
		.wr_id = (uintptr_t)data_message(data, slot),
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err = ibv_post_recv(data->conn->qp, &wr, &bad);

	if (err)
		return log_fail_errno(
			"ibv_post_recv", err,
			"is the queue full (max_recv_wr), or the queue pair still in RESET [docs/troubleshooting.md#post]");
	data->conn->pending++;
	return 0;
}

int data_post_receives(struct data *data)
{
	for (int slot = SLOT_RECV; slot < SLOT_COUNT; slot++)
		if (post_receive(data, slot))
			return -1;
	return 0;
}

static int post(struct data *data, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int err;

	/* Without this, a request that succeeds has no completion. */
	wr->send_flags |= IBV_SEND_SIGNALED;
	err = ibv_post_send(data->conn->qp, wr, &bad);
	if (err)
		return log_fail_errno(
			"ibv_post_send", err,
			"is the queue full (max_send_wr), or the queue pair not in RTS [docs/troubleshooting.md#post]");
	data->conn->pending++;
	return 0;
}

int data_post_send(struct data *data, enum slot slot, const struct msg *msg)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data_message(data, slot),
		.length = MSG_SIZE,
		.lkey = data->messages.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)data_message(data, slot),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	msg_encode(msg, data_message(data, slot));
	return post(data, &wr);
}

int data_post_rdma(struct data *data, enum ibv_wr_opcode opcode,
		   const struct remote *peer)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data->local.buf,
		.length = data->local.size,
		.lkey = data->local.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)data->local.buf,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.wr.rdma = {
			.remote_addr = peer->addr,
			.rkey = peer->rkey,
		},
	};

	if (data->local.size > peer->length)
		return log_fail(
			"the peer's memory has %u bytes, and %zu are needed; are both ends of the same source",
			peer->length, data->local.size);
	return post(data, &wr);
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
	/* ibv_destroy_cq() waits, without limit, until all are acknowledged. */
	ibv_ack_cq_events(cq, 1);
	return arm(conn);
}

/* Takes one completion off the CQ: 1, or 0 if there is none, or -1. */
static int poll_cq(struct conn *conn, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(conn->cq, 1, wc);

	if (n < 0)
		return log_fail_errno("ibv_poll_cq", 0, "the CQ is unusable");
	conn->pending -= n;
	return n;
}

/* Sleeps until the CQ or the peer has news; the CQ must be armed. */
static int sleep_for_news(struct conn *conn, const char *what, int64_t deadline)
{
	int news = wait_readable(conn->comp->fd, peer_fd(conn),
				 conn->patience.stop_fd, deadline);

	if (news < 0)
		return wait_fail(what, errno, &conn->patience);
	/* Handle what the peer sent before we handle that it left. */
	if (news & WAIT_FIRST)
		return take_cq_event(conn);
	return peer_check(conn);
}

/*
 * Whether a successful completion is for what was posted. A peer can also write
 * with immediate data, which uses up a receive but brings no message, so this
 * checks the opcode and not only the request.
 */
static bool is_expected(const struct data *data, const struct ibv_wc *wc)
{
	uint64_t slot = (wc->wr_id - (uintptr_t)data->messages.buf) / MSG_SIZE;

	if (wc->wr_id == (uintptr_t)data->local.buf)
		return wc->opcode == IBV_WC_RDMA_WRITE ||
		       wc->opcode == IBV_WC_RDMA_READ;
	return slot < SLOT_COUNT &&
	       wc->opcode == (slot < SLOT_RECV ? IBV_WC_SEND : IBV_WC_RECV);
}

int data_wait(struct data *data, struct ibv_wc *wc, const char *what)
{
	struct conn *conn = data->conn;
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);
	int n;

	/*
	 * The CQ is armed whenever we poll it. So a completion that comes
	 * between the poll and the sleep makes an event, which ends the sleep.
	 */
	while ((n = poll_cq(conn, wc)) == 0)
		if (sleep_for_news(conn, what, deadline))
			return -1;
	if (n < 0)
		return -1;
	if (wc->status == IBV_WC_SUCCESS && !is_expected(data, wc))
		return log_fail(
			"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
			wc->opcode);
	return 0;
}

int data_drain(struct data *data)
{
	struct conn *conn = data->conn;
	int n, flushed = 0;
	struct ibv_wc wc;
	int64_t deadline;

	if (!conn || !conn->pending)
		return 0;
	if (qp_to_err(conn->qp))
		return -1;
	/* If arming is what failed, no event would come. */
	if (!conn->armed && arm(conn))
		return -1;
	deadline = wait_deadline(conn->patience.timeout_ms);
	while (conn->pending) {
		n = poll_cq(conn, &wc);
		if (n < 0)
			return -1;
		flushed += n > 0 && wc.status == IBV_WC_WR_FLUSH_ERR;
		if (n > 0)
			continue;
		/* Neither a signal nor the peer can end this early. */
		if (wait_readable(conn->comp->fd, -1, -1, deadline) < 0)
			return wait_fail("the flush of all posted requests",
					 errno, &conn->patience);
		if (take_cq_event(conn))
			return -1;
	}
	if (flushed)
		log_line("drained: %d posted requests were flushed.", flushed);
	return 0;
}

void data_close(struct data *data)
{
	region_close(&data->exposed);
	region_close(&data->local);
	region_close(&data->messages);
}
