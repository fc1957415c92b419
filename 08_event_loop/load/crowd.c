/*
 * crowd.c - many connections to a server, in one thread
 */
#include "crowd.h"

#include <errno.h>
#include <search.h>
#include <string.h>
#include <time.h>

#include "explain.h"
#include "log.h"

/* How many completions one turn takes at most. */
#define COMPLETIONS 64

/* The wr_id of a message; of a receive, it is the number of its piece of memory. */
#define MESSAGE UINT64_MAX

int64_t crowd_clock(void)
{
	struct timespec now;

	/* It cannot fail for this clock. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void crowd_progress(struct crowd *crowd)
{
	crowd->due = wait_deadline(crowd->patience.timeout_ms);
}

int crowd_compare(const void *one, const void *other)
{
	uint32_t a = ((const struct asker *)one)->qp_num;
	uint32_t b = ((const struct asker *)other)->qp_num;

	return a < b ? -1 : a > b;
}

/* Where the receive with this number puts what comes. */
static char *came_at(const struct crowd *crowd, uint64_t number)
{
	return (char *)crowd->came.buf + number * crowd->bytes;
}

void crowd_tell_of(const struct crowd *crowd, const struct asker *asker)
{
	if (asker)
		log_prefix("Client %zd: ", asker - crowd->askers + 1);
	else
		log_prefix("%s", "");
}

int crowd_post_receive(struct crowd *crowd, uint64_t number)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)came_at(crowd, number),
		.length = crowd->bytes,
		.lkey = crowd->came.mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = number,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err = ibv_post_srq_recv(crowd->srq, &wr, &bad);

	return err ? explain_call("ibv_post_srq_recv", err) : 0;
}

/* ---- One of them leaves ---- */

/* Nothing of it is posted any more. */
void crowd_free(struct crowd *crowd, struct asker *asker)
{
	if (asker->id->qp) {
		tdelete(asker, &crowd->by_number, crowd_compare);
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
		crowd->under_way -= asker->waits;
		crowd->asking -= asker->waits || asker->in_line;
		if (asker->in_line)
			TAILQ_REMOVE(&crowd->line, asker, link);
	}
	crowd_progress(crowd);
}

void crowd_leave(struct crowd *crowd, struct asker *asker)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	enum asker_state state = asker->state;
	int err;

	if (state == ASKER_NEW || state >= ASKER_LEAVING)
		return;
	count_out(crowd, asker);
	asker->state = ASKER_LEAVING;
	/* Who is only being made has nothing to end: destroying it rejects. */
	if (state == ASKER_READY && rdma_disconnect(asker->id))
		explain_call("rdma_disconnect", errno);
	if (!asker->posted) {
		crowd_free(crowd, asker);
		return;
	}
	err = ibv_modify_qp(asker->id->qp, &attr, IBV_QP_STATE);
	if (err)
		explain_call("ibv_modify_qp", err);
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

/* ---- One of them sends ---- */

static int post_message(struct crowd *crowd, struct asker *asker)
{
	struct ibv_sge sge = { (uintptr_t)crowd->data.buf, crowd->bytes,
			       crowd->data.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = MESSAGE,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	unsigned int count = crowd->greedy ? crowd->greedy : 1;

	while (asker->posted < count) {
		int err = ibv_post_send(asker->id->qp, &wr, &bad);

		if (err)
			return explain_call("ibv_post_send", err);
		asker->posted++;
	}
	return 0;
}

/* Lets as many send as may at a time, in the order of the line. */
static void ask_some(struct crowd *crowd)
{
	struct asker *asker;

	while (crowd->under_way < crowd->depth &&
	       (asker = TAILQ_FIRST(&crowd->line))) {
		TAILQ_REMOVE(&crowd->line, asker, link);
		asker->in_line = false;
		asker->waits = true;
		asker->asked++;
		asker->sent = crowd->now;
		crowd->under_way++;
		if (post_message(crowd, asker))
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
	crowd->now = crowd_clock();
	for (unsigned int i = 0; i < crowd->count; i++)
		if (crowd->askers[i].state == ASKER_READY) {
			crowd->asking++;
			stand_in_line(crowd, &crowd->askers[i]);
		}
	ask_some(crowd);
}

/* The echo is here, and the send is complete: in either order. */
static void go_on(struct crowd *crowd, struct asker *asker)
{
	if (asker->posted || !asker->answered)
		return;
	asker->waits = asker->answered = false;
	crowd->under_way--;
	crowd_progress(crowd);
	if (asker->asked < crowd->cycles)
		stand_in_line(crowd, asker);
	else
		crowd->asking--;
}

static int on_echo(struct crowd *crowd, struct asker *asker, const char *came,
		   uint32_t length)
{
	if (!asker->waits || asker->answered)
		return log_fail("protocol error: an echo without a message");
	if (length != crowd->bytes || memcmp(came, crowd->data.buf, length))
		return log_fail("what came back is not what was sent");
	crowd->last = crowd->now;
	crowd->took[crowd->times++] = (crowd->now - asker->sent) / 1000;
	asker->answered = true;
	return 0;
}

static int on_done(struct crowd *crowd, struct asker *asker,
		   const struct ibv_wc *wc)
{
	bool came = wc->wr_id != MESSAGE;

	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion(came ? "receive" : "send", wc);
	if (came &&
	    on_echo(crowd, asker, came_at(crowd, wc->wr_id), wc->byte_len))
		return -1;
	go_on(crowd, asker);
	if (crowd->greedy && !asker->posted)
		log_line("%u messages are sent, and no echo is taken.",
			 crowd->greedy);
	return 0;
}

/* Returns 0, or -1: all are lost. */
static int on_completion(struct crowd *crowd, const struct ibv_wc *wc)
{
	struct asker key = { .qp_num = wc->qp_num }, *asker;
	struct asker **found = tfind(&key, &crowd->by_number, crowd_compare);

	asker = found ? *found : NULL;
	if (asker && wc->wr_id == MESSAGE)
		asker->posted--;
	if (asker && asker->state != ASKER_LEAVING) {
		crowd_tell_of(crowd, asker);
		if (on_done(crowd, asker, wc))
			crowd_leave(crowd, asker);
		crowd_tell_of(crowd, NULL);
	} else if (asker && !asker->posted) {
		crowd_free(crowd, asker);
	}
	return wc->wr_id == MESSAGE ? 0 : crowd_post_receive(crowd, wc->wr_id);
}

/* ---- A turn of the loop ---- */

/* Returns how many completions there were, or -1: all are lost. */
static int take_completions(struct crowd *crowd)
{
	struct ibv_wc wc[COMPLETIONS];
	int n = ibv_poll_cq(crowd->all.cq, COMPLETIONS, wc);

	if (n < 0)
		return explain_call("ibv_poll_cq", 0);
	crowd->now = crowd_clock();
	for (int i = 0; i < n; i++)
		if (on_completion(crowd, &wc[i]))
			return -1;
	ask_some(crowd);
	return n;
}

/* The completion channel can be read. */
static int take_cq_event(struct crowd *crowd)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(crowd->all.comp, &cq, &context))
		return errno == EAGAIN ?
			       0 :
			       explain_call("ibv_get_cq_event", errno);
	ibv_ack_cq_events(cq, 1);
	return crowd_arm(crowd);
}

int crowd_turn(struct crowd *crowd, int64_t until)
{
	int comp = crowd->all.cq ? crowd->all.comp->fd : -1, news,
	    n = crowd->all.cq ? take_completions(crowd) : 0;

	if (n < 0)
		return -1;
	/* The CQ was armed before it was found empty. */
	news = wait_readable(comp, crowd->all.events->fd,
			     crowd->leaving ? -1 : crowd->patience.stop_fd,
			     n ? 0 : until);
	if (news < 0)
		return errno == ETIMEDOUT ?
			       0 :
			       wait_fail("the crowd", errno, &crowd->patience);
	if (news & WAIT_FIRST && take_cq_event(crowd))
		return -1;
	return news & WAIT_SECOND ? crowd_on_cm(crowd) : 0;
}
