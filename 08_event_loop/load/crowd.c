/*
 * crowd.c - many connections to a server, in one thread
 */
#include "crowd.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "explain.h"
#include "log.h"

unsigned int crowd_number(const struct crowd *crowd, const struct asker *asker)
{
	return asker - crowd->askers + 1;
}

/* What the server may write to. */
static char *exposed_of(const struct crowd *crowd, const struct asker *asker)
{
	return (char *)crowd->exposed.buf +
	       (asker - crowd->askers) * crowd->bytes;
}

/* Something has happened: the server has time for the next thing. */
static void make_progress(struct crowd *crowd)
{
	crowd->due = wait_deadline(crowd->timeout_ms);
}

/* ---- One of them leaves ---- */

/* Nothing of it is posted any more. */
void crowd_free(struct crowd *crowd, struct asker *asker)
{
	if (asker->id->qp) {
		shared_remove(&crowd->shared, &asker->member);
		rdma_destroy_qp(asker->id);
	}
	if (rdma_destroy_id(asker->id))
		explain_call("rdma_destroy_id", errno);
	asker->state = ASKER_GONE;
	crowd->here--;
}

/* What becomes of it, in numbers. */
static void count_out(struct crowd *crowd, struct asker *asker)
{
	if (asker->state == ASKER_MAKING) {
		crowd->making--;
		crowd->refused += asker->refused;
		crowd->failed += !asker->refused;
	} else if (asker->state == ASKER_ENDING) {
		crowd->ending--;
	} else {
		crowd->lost++;
		crowd->under_way -= asker->parts > 0;
		if (asker->in_line)
			TAILQ_REMOVE(&crowd->line, asker, link);
		if (!asker->complete && crowd->asking)
			crowd->asking--;
	}
	make_progress(crowd);
}

void crowd_leave(struct crowd *crowd, struct asker *asker)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int err;

	if (asker->state == ASKER_NEW || asker->state >= ASKER_LEAVING)
		return;
	count_out(crowd, asker);
	if (asker->established && asker->state != ASKER_ENDING &&
	    rdma_disconnect(asker->id))
		explain_call("rdma_disconnect", errno);
	asker->state = ASKER_LEAVING;
	if (asker->pending &&
	    (err = ibv_modify_qp(asker->id->qp, &attr, IBV_QP_STATE)))
		explain_call("ibv_modify_qp", err);
	if (!asker->pending)
		crowd_free(crowd, asker);
}

void crowd_end(struct crowd *crowd, struct asker *asker)
{
	asker->state = ASKER_ENDING;
	crowd->ending++;
	if (rdma_disconnect(asker->id)) {
		explain_call("rdma_disconnect", errno);
		crowd_leave(crowd, asker);
	}
}

/* ---- What one of them sends ---- */

static int post(struct crowd *crowd, struct asker *asker, enum work work,
		const void *bytes, uint32_t length)
{
	bool is_inline = work == WORK_MR || work == WORK_DONE;
	struct ibv_sge sge = {
		.addr = (uintptr_t)bytes,
		.length = length,
		.lkey = crowd->request.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = work,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = work == WORK_RDMA ? IBV_WR_RDMA_WRITE : IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED |
			      (is_inline ? IBV_SEND_INLINE : 0),
		.wr.rdma = {
			.remote_addr = asker->peer.addr,
			.rkey = asker->peer.rkey,
		},
	};
	int err = ibv_post_send(asker->id->qp, &wr, &bad);

	if (err)
		return explain_call("ibv_post_send", err);
	asker->pending++;
	return 0;
}

static int send_mr(struct crowd *crowd, struct asker *asker)
{
	struct msg msg = msg_make(MSG_MR, MODE_WRITE,
				  (uintptr_t)exposed_of(crowd, asker),
				  crowd->exposed.mr->rkey, crowd->bytes);

	return post(crowd, asker, WORK_MR, &msg, sizeof(msg));
}

static int start_rdma(struct crowd *crowd, struct asker *asker)
{
	const struct request *request = crowd->request.buf;

	if (asker->peer.length != crowd->bytes)
		return log_fail(
			"this side has %u bytes of memory and the peer %u; start both with the same -b [docs/troubleshooting.md#refused]",
			crowd->bytes, asker->peer.length);
	return post(crowd, asker, WORK_RDMA, request->data, crowd->bytes);
}

int crowd_step(struct crowd *crowd, struct asker *asker, enum event event)
{
	const struct msg done = msg_make(MSG_DONE, 0, 0, 0, 0);

	switch (state_step(&asker->states, event)) {
	case ACT_NOTHING:
		return 0;
	case ACT_SEND_MR:
		return send_mr(crowd, asker);
	case ACT_START_RDMA:
		return start_rdma(crowd, asker);
	case ACT_SEND_DONE:
		return post(crowd, asker, WORK_DONE, &done, sizeof(done));
	case ACT_FINISH:
		asker->state = ASKER_READY;
		crowd->making--;
		crowd->ready++;
		make_progress(crowd);
		return 0;
	default:
		return -1;
	}
}

/* Lets as many ask as may at a time, in the order of the line. */
static void ask_some(struct crowd *crowd)
{
	struct asker *asker;

	while (crowd->under_way < crowd->depth &&
	       (asker = TAILQ_FIRST(&crowd->line))) {
		TAILQ_REMOVE(&crowd->line, asker, link);
		asker->in_line = false;
		asker->asked++;
		asker->parts = 2;
		asker->sent = crowd->now;
		crowd->under_way++;
		if (post(crowd, asker, WORK_ANSWER, crowd->request.buf,
			 sizeof(struct msg) + crowd->bytes))
			crowd_leave(crowd, asker);
	}
}

static void stand_in_line(struct crowd *crowd, struct asker *asker)
{
	asker->in_line = true;
	TAILQ_INSERT_TAIL(&crowd->line, asker, link);
}

void crowd_ask(struct crowd *crowd)
{
	for (unsigned int i = 0; i < crowd->count; i++)
		if (crowd->askers[i].state == ASKER_READY) {
			crowd->asking++;
			stand_in_line(crowd, &crowd->askers[i]);
		}
	ask_some(crowd);
}

/* ---- What has happened to one of them ---- */

/* One of the two parts of an answer is here: goes on when both are. */
static void on_part(struct crowd *crowd, struct asker *asker)
{
	if (--asker->parts)
		return;
	crowd->under_way--;
	make_progress(crowd);
	if (asker->asked < crowd->cycles) {
		stand_in_line(crowd, asker);
	} else {
		asker->complete = true;
		crowd->asking--;
	}
	ask_some(crowd);
}

static int on_answer(struct crowd *crowd, struct asker *asker,
		     const struct msg *msg)
{
	const struct request *request = crowd->request.buf;

	if (!asker->parts)
		return log_fail("protocol error: an answer without a request");
	crowd->answered = crowd->now;
	latency_add(&crowd->latency, crowd->answered - asker->sent);
	if (memcmp(msg, &crowd->answer, sizeof(*msg)))
		return log_fail(
			"the checksum is not that of what was sent, or the length is not");
	/* The write is older than the answer, so all of it must be here. */
	if (crowd->writes &&
	    memcmp(exposed_of(crowd, asker), request->data, crowd->bytes))
		return log_fail(
			"what the server wrote is not what was sent to it");
	on_part(crowd, asker);
	return 0;
}

static int on_message(struct crowd *crowd, struct asker *asker,
		      const struct msg *msg, uint32_t length)
{
	if (msg_check(msg, length))
		return -1;
	switch (msg->type) {
	case MSG_MR:
		/* A second one is an error, and must not replace the first. */
		if (asker->states.recv == RS_INIT)
			asker->peer = (struct remote){ be64toh(msg->addr),
						       be32toh(msg->rkey),
						       be32toh(msg->length) };
		return crowd_step(crowd, asker, EV_MR_RECEIVED);
	case MSG_DONE:
		return crowd_step(crowd, asker, EV_DONE_RECEIVED);
	case MSG_ANSWER:
		return on_answer(crowd, asker, msg);
	default:
		return log_fail("protocol error: a message of type %d",
				msg->type);
	}
}

static int on_done(struct crowd *crowd, struct asker *asker,
		   const struct ibv_wc *wc)
{
	enum work work = wc->wr_id & WORK_MASK;

	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion(work_name(wc->wr_id), wc);
	if (work == WORK_RECEIVE)
		return on_message(crowd, asker,
				  &receive_of(wc->wr_id)->came.msg,
				  wc->byte_len);
	if (work <= WORK_DONE)
		return crowd_step(crowd, asker, EV_MR_SENT + work);
	on_part(crowd, asker);
	return 0;
}

static void on_completion(struct crowd *crowd, const struct ibv_wc *wc)
{
	struct asker *asker = (void *)shared_find(&crowd->shared, wc->qp_num);
	struct receive *receive = receive_of(wc->wr_id);

	if (receive)
		receive_take(&crowd->shared, receive);
	else if (asker)
		asker->pending--;
	if (asker && asker->state < ASKER_LEAVING) {
		log_prefix("Client %u: ", crowd_number(crowd, asker));
		if (on_done(crowd, asker, wc))
			crowd_leave(crowd, asker);
		log_prefix("%s", "");
	} else if (asker && !asker->pending) {
		crowd_free(crowd, asker);
	}
	if (receive)
		receive_release(&crowd->shared, receive);
}

int crowd_take(struct crowd *crowd)
{
	struct ibv_wc wc[SHARED_POLL];

	for (int left = SHARED_BUDGET; crowd->shared.busy && left > 0;
	     left -= SHARED_POLL) {
		int n = shared_poll(&crowd->shared, wc);

		if (n < 0)
			return -1;
		for (int i = 0; i < n; i++)
			on_completion(crowd, &wc[i]);
	}
	return 0;
}
