/*
 * data.c - memory regions, posting, and waiting for a completion
 */
#include "data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cm_help.h"
#include "log.h"

#define PAGE ((size_t)4096)

/*
 * How many completions to take between two looks for a signal, each a system
 * call.
 */
#define LOOK_EVERY 8

/* Whether the device can register that many bytes at a time. */
static int check_limit(struct ibv_context *verbs, size_t size)
{
	struct ibv_device_attr attr;
	int err = ibv_query_device(verbs, &attr);

	if (err)
		return log_fail_errno("ibv_query_device", err,
				      "its limits remain unknown");
	if (size > attr.max_mr_size)
		return log_fail(
			"%zu bytes: the device registers at most %" PRIu64
			" bytes at a time",
			size, attr.max_mr_size);
	return 0;
}

int region_open(struct region *region, struct ibv_pd *pd, size_t size,
		int access)
{
	if (check_limit(pd->context, size))
		return -1;
	/* Page-aligned: otherwise, each operation costs a step more. */
	region->buf = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
	if (!region->buf)
		return log_fail_errno("aligned_alloc", errno, "%zu bytes",
				      size);
	/* Zeroed, so that a mistake cannot send an old secret. */
	memset(region->buf, 0, size);
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

void region_close(struct region *region)
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

int data_open(struct data *data, struct conn *conn, size_t size)
{
	data->conn = conn;
	/* Nothing is posted yet, so no completion can come before this. */
	if (arm(conn))
		return -1;
	if (region_open(&data->messages, conn->pd, SLOT_COUNT * MSG_SIZE,
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	if (!size)
		return 0;
	return region_open(&data->local, conn->pd, size,
			   cm_read_access(conn->pd->context));
}

int data_lend(struct data *data, size_t size)
{
	region_close(&data->exposed);
	/* The specification requires the local right with the remote one. */
	return region_open(&data->exposed, data->conn->pd, size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
}

void *data_message(const struct data *data, int slot)
{
	return data->messages.buf + slot * MSG_SIZE;
}

const char *data_request_name(uint64_t wr_id)
{
	if (request_number(wr_id) == SLOT_SEND_FIRST)
		return "send of MSG_MR";
	if (request_number(wr_id) == SLOT_SEND_DONE)
		return "send of MSG_DONE";
	return "receive";
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
		.wr_id = request_id(REQUEST_MESSAGE, 1, slot),
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err = ibv_post_recv(data->conn->qp, &wr, &bad);

	if (err)
		return log_fail_errno(
			"ibv_post_recv", err,
			"are more posted than max_recv_wr [docs/troubleshooting.md#post]");
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
	wr->send_flags = IBV_SEND_SIGNALED;
	err = ibv_post_send(data->conn->qp, wr, &bad);
	if (err)
		return log_fail_errno(
			"ibv_post_send", err,
			"are more posted than max_send_wr [docs/troubleshooting.md#post]");
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
		.wr_id = request_id(REQUEST_MESSAGE, 1, slot),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	msg_encode(msg, data_message(data, slot));
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
	/* 0: a request that was to report only if it failed. */
	if (n > 0 && request_over(wc->wr_id))
		conn->pending--;
	return n;
}

/* Sleeps until the CQ or the peer has news; the CQ must be armed. */
static int sleep_for_news(struct conn *conn, int64_t deadline)
{
	int news = wait_readable(conn->comp->fd, conn_peer_fd(conn),
				 conn->patience.stop_fd, deadline);

	if (news < 0)
		return wait_fail("a completion", errno, &conn->patience);
	/* Handle what the peer sent before we handle that it left. */
	if (news & WAIT_FIRST)
		return take_cq_event(conn);
	return conn_check_peer(conn);
}

/*
 * Whether a successful completion is for what was posted. A peer can also write
 * with immediate data, which uses up a receive but brings no message, so this
 * checks the opcode and not only the request.
 */
static bool is_expected(const struct ibv_wc *wc)
{
	uint64_t slot = request_number(wc->wr_id);

	return request_of(wc->wr_id) == REQUEST_MESSAGE && slot < SLOT_COUNT &&
	       wc->opcode == (slot < SLOT_RECV ? IBV_WC_SEND : IBV_WC_RECV);
}

/* A loop that always finds a completion never sleeps: look for a signal here. */
static int look_for_signal(struct data *data)
{
	const struct patience *patience = &data->conn->patience;

	if (++data->looks % LOOK_EVERY)
		return 0;
	if (wait_readable(-1, -1, patience->stop_fd, 0) < 0 &&
	    errno == ETIMEDOUT)
		return 0;
	return wait_fail("a completion", errno, patience);
}

int data_poll(struct data *data, struct ibv_wc *wc)
{
	return look_for_signal(data) ? -1 : poll_cq(data->conn, wc);
}

int data_next(struct data *data, struct ibv_wc *wc)
{
	struct conn *conn = data->conn;
	int n = data_poll(data, wc);
	int64_t deadline;

	if (n)
		return n < 0 ? -1 : 0;
	deadline = wait_deadline(conn->patience.timeout_ms);
	/*
	 * The CQ is armed whenever we poll it. So a completion that comes
	 * between the poll and the sleep makes an event, which ends the sleep.
	 */
	while ((n = poll_cq(conn, wc)) == 0)
		if (sleep_for_news(conn, deadline))
			return -1;
	return n < 0 ? -1 : 0;
}

int data_look(struct data *data, struct ibv_wc *wc)
{
	struct conn *conn = data->conn;
	int n = poll_cq(conn, wc);
	int news;

	if (n)
		return n;
	news = wait_readable(conn->comp->fd, conn_peer_fd(conn),
			     conn->patience.stop_fd, 0);
	if (news < 0)
		return errno == ETIMEDOUT ? 0 :
					    wait_fail("a completion", errno,
						      &conn->patience);
	if (news & WAIT_FIRST)
		return take_cq_event(conn) ? -1 : poll_cq(conn, wc);
	return conn_check_peer(conn);
}

int data_wait(struct data *data, struct ibv_wc *wc)
{
	if (data_next(data, wc))
		return -1;
	if (wc->status == IBV_WC_SUCCESS && !is_expected(wc))
		return log_fail(
			"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
			wc->opcode);
	return 0;
}

/*
 * Until a request completes, its memory belongs to the device. In the error
 * state, every request comes back at once: most of them "flushed".
 */
static int drain(struct conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);
	struct ibv_wc wc;
	int n, err;

	if (!conn->pending)
		return 0;
	err = ibv_modify_qp(conn->qp, &attr, IBV_QP_STATE);
	if (err)
		return log_fail_errno("ibv_modify_qp", err,
				      "to the error state");
	/* If arming is what failed, no event would come. */
	if (!conn->armed && arm(conn))
		return -1;
	while (conn->pending) {
		n = poll_cq(conn, &wc);
		if (n < 0)
			return -1;
		if (n > 0)
			continue;
		/* Neither a signal nor the peer can end this early. */
		if (wait_readable(conn->comp->fd, -1, -1, deadline) < 0)
			return wait_fail("the flush of all posted requests",
					 errno, &conn->patience);
		if (take_cq_event(conn))
			return -1;
	}
	return 0;
}

void data_close(struct data *data)
{
	if (data->conn)
		drain(data->conn);
	region_close(&data->exposed);
	region_close(&data->local);
	region_close(&data->messages);
}
