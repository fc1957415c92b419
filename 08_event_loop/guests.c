/*
 * guests.c - how guests come, send, and go
 */
#include "guests.h"

#include <errno.h>
#include <stdlib.h>

#include "explain.h"
#include "log.h"

/* The most completions that one turn takes off a CQ. */
#define COMPLETIONS 64

/* The most guests that one turn frees, or finds to be too late. */
#define BUDGET 16

/* ---- A guest comes ---- */

static void move(struct guests *guests, struct guest *guest,
		 enum guest_state state)
{
	TAILQ_REMOVE(&guests->lists[guest->state], guest, link);
	guest->state = state;
	/* In one list all have the same time, so the first is due first. */
	TAILQ_INSERT_TAIL(&guests->lists[state], guest, link);
	guest->deadline = guests->loop->now + guests->timeouts[state];
	guest->late = false;
}

void guests_open(struct guests *guests)
{
	for (int state = 0; state < GUEST_STATES; state++)
		TAILQ_INIT(&guests->lists[state]);
}

static int create_qp(struct guest *guest)
{
	struct shared *shared = guest->shared;
	struct rdma_cm_id *id = guest->id;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = shared->all.cq,
		.recv_cq = shared->all.cq,
		.srq = shared->srq,
		.cap = { .max_send_wr = GUEST_WINDOW, .max_send_sge = 1 },
	};
	/* As in rdma.c, but 4.096 us * 2^18: so many may take a second. */
	uint8_t timeout = 18;

	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			    &timeout, sizeof(timeout)))
		return explain_call("rdma_set_option", errno);
	if (rdma_create_qp(id, shared->all.pd, &attr))
		return explain_call("rdma_create_qp", errno);
	if (!shared_add(shared, &guest->member, id->qp->qp_num))
		return 0;
	rdma_destroy_qp(id);
	return -1;
}

struct guest *guests_add(struct guests *guests, struct shared *shared,
			 struct rdma_cm_id *id)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	if (!guest) {
		explain_call("calloc", errno);
		return NULL;
	}
	guest->shared = shared;
	guest->id = id;
	if (create_qp(guest)) {
		free(guest);
		return NULL;
	}
	id->context = guest;
	guest->number = ++guests->arrived;
	guests->count++;
	TAILQ_INSERT_TAIL(&guests->lists[GUEST_COMES], guest, link);
	move(guests, guest, GUEST_COMES);
	return guest;
}

void guests_welcome(struct guests *guests, struct guest *guest)
{
	guest->established = true;
	/* Its first message may have been faster. */
	if (guest->state == GUEST_COMES)
		move(guests, guest, GUEST_SENDS);
	/* Even so fast that it had to leave. It does not know that yet. */
	if (guest->state == GUEST_LEAVES && rdma_disconnect(guest->id))
		explain_call("rdma_disconnect", errno);
}

/* ---- A guest sends ---- */

/*
 * Sends the bytes back from the memory of the receive that brought them. So all that
 * is posted is charged to a receive, and the CQ need not grow with the clients.
 */
static int echo(struct guest *guest, struct receive *receive, uint32_t length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)receive->came,
		.length = length,
		.lkey = receive->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = (uintptr_t)receive,
		.sg_list = &sge,
		/* Some devices take a length of 0 to mean 2^31. */
		.num_sge = length ? 1 : 0,
		.opcode = IBV_WR_SEND,
		/* Without this, a send that succeeds has no completion. */
		.send_flags = IBV_SEND_SIGNALED,
	};
	int err = ibv_post_send(guest->id->qp, &wr, &bad);

	if (err)
		return explain_call("ibv_post_send", err);
	guest->echoes++;
	receive->returns = true;
	return 0;
}

/* A receive is complete, or has failed. Returns 0, or -1: the guest has to go. */
static int on_message(struct guest *guest, struct receive *receive,
		      const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion("receive", wc);
	/* A write with immediate data takes a receive as well. */
	if (wc->opcode != IBV_WC_RECV)
		return log_fail(
			"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
			wc->opcode);
	guest->count++;
	if (guest->echoes == GUEST_WINDOW)
		return log_fail(
			"%d messages, of which no echo was taken; at most %d may be without one",
			GUEST_WINDOW + 1, GUEST_WINDOW / 2);
	return echo(guest, receive, wc->byte_len);
}

/* One guest's failure is no other's: whatever happens, others are served. */
static void serve(struct guests *guests, struct guest *guest,
		  struct receive *receive, const struct ibv_wc *wc, bool came)
{
	enum guest_state state;
	int ret = 0;

	guest->echoes -= !came;
	/*
	 * All of a guest that leaves is flushed; its messages come too late. But
	 * a message that could not be received may be why it leaves.
	 */
	if (guest->state == GUEST_LEAVES &&
	    (!came || wc->status == IBV_WC_SUCCESS ||
	     wc->status == IBV_WC_WR_FLUSH_ERR))
		return;
	log_prefix("Client %u: ", guest->number);
	if (came)
		ret = on_message(guest, receive, wc);
	else if (wc->status != IBV_WC_SUCCESS)
		ret = explain_completion("send", wc);
	state = guest->echoes ? GUEST_TAKES : GUEST_SENDS;
	if (ret)
		guests_leave(guests, guest);
	/* A guest that takes no echo gains no time by sending more. */
	else if (state != guest->state || state != GUEST_TAKES || !came)
		move(guests, guest, state);
	log_prefix("%s", "");
}

static void on_completion(struct guests *guests, struct shared *shared,
			  const struct ibv_wc *wc)
{
	/* The wr_id of a shared receive cannot say whose message it is. */
	struct guest *guest = (void *)shared_find(shared, wc->qp_num);
	struct receive *receive = (void *)(uintptr_t)wc->wr_id;
	/* Nor can the opcode of a failed completion say that it is a receive. */
	bool came = !receive->returns;

	receive->returns = false;
	if (came)
		receive_take(shared, receive);
	if (guest)
		serve(guests, guest, receive, wc, came);
	/* Whose message it was, and what came of it, does not matter. */
	if (!receive->returns)
		receive_back(shared, receive);
}

/* Takes completions off the CQ, as many as are a turn's share. */
static int take_completions(struct guests *guests, struct shared *shared)
{
	struct ibv_wc wc[SHARED_POLL];

	for (int budget = COMPLETIONS; shared->busy && budget;
	     budget = loop_left(guests->loop, budget - SHARED_POLL)) {
		int n = shared_poll(shared, wc);

		if (n < 0)
			return -1;
		for (int i = 0; i < n; i++)
			on_completion(guests, shared, &wc[i]);
	}
	return 0;
}

/* ---- A guest leaves ---- */

void guests_leave(struct guests *guests, struct guest *guest)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int err;

	if (guest->state == GUEST_LEAVES)
		return;
	move(guests, guest, GUEST_LEAVES);
	/* Also if it disconnected first: it waits for this. */
	if (guest->established && rdma_disconnect(guest->id))
		explain_call("rdma_disconnect", errno);
	/* Also if there was no connection yet. All that is posted is flushed. */
	err = ibv_modify_qp(guest->id->qp, &attr, IBV_QP_STATE);
	if (err)
		explain_call("ibv_modify_qp", err);
	/* What it has received is in the CQ already. */
	shared_mark(guest->shared, &guest->member);
}

void guests_leave_all(struct guests *guests)
{
	struct guest *guest;

	for (int state = 0; state < GUEST_LEAVES; state++)
		while ((guest = TAILQ_FIRST(&guests->lists[state])))
			guests_leave(guests, guest);
}

/* Whether nothing of it can come any more. */
static bool is_done(const struct guest *guest)
{
	/* Drain by count: a flushed request is a completion, too. */
	return !guest->echoes &&
	       (guest->member.last || !guest->shared->tells) &&
	       shared_is_drained(guest->shared, &guest->member);
}

/* In the reverse order of creation. */
static void free_guest(struct guests *guests, struct guest *guest)
{
	struct rdma_cm_id *id = guest->id;

	log_prefix("Client %u: ", guest->number);
	log_line("%s after %lu messages.",
		 guest->has_left ? "peer disconnected" : "sent away",
		 guest->count);
	shared_remove(guest->shared, &guest->member);
	TAILQ_REMOVE(&guests->lists[guest->state], guest, link);
	guests->count--;
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		explain_call("rdma_destroy_id", errno);
	log_prefix("%s", "");
	free(guest);
}

void guests_close(struct guests *guests)
{
	struct guest *guest;

	for (int state = 0; state < GUEST_STATES; state++)
		while ((guest = TAILQ_FIRST(&guests->lists[state])))
			free_guest(guests, guest);
}

/* Frees some of those of which nothing is left. */
static void let_go(struct guests *guests)
{
	struct guest *guest, *next;
	int budget = BUDGET;

	for (guest = TAILQ_FIRST(&guests->lists[GUEST_LEAVES]); guest && budget;
	     guest = next) {
		next = TAILQ_NEXT(guest, link);
		if (!is_done(guest))
			continue;
		free_guest(guests, guest);
		budget = loop_left(guests->loop, budget - 1);
	}
	guests->more = !budget;
}

/* ---- A guest is late ---- */

/* Returns 0, or -1 after reporting why all are lost. */
static int expire(struct guests *guests, struct guest *guest)
{
	static const char *const what[GUEST_STATES] = {
		"the connection", "a message", "the completion of an echo",
		"the flush of all echoes"
	};
	bool leaves = guest->state == GUEST_LEAVES;

	if (leaves && !guest->echoes) {
		/* The event that it waits for may never come. */
		guest->member.last = true;
		move(guests, guest, GUEST_LEAVES);
		return 0;
	}
	log_prefix("Client %u: ", guest->number);
	log_fail(
		"%s: nothing came within %g s; %s [docs/troubleshooting.md#silent]",
		what[guest->state], guests->timeouts[guest->state] / 1000.0,
		leaves ? "the device is unusable" : "the client is sent away");
	if (!leaves)
		guests_leave(guests, guest);
	log_prefix("%s", "");
	return leaves ? -1 : 0;
}

/* Sends away some of those that have been in this state for too long. */
static int expire_some(struct guests *guests, enum guest_state state)
{
	struct guest *guest, *next;
	int budget = BUDGET, ret = 0;

	for (guest = TAILQ_FIRST(&guests->lists[state]);
	     guest && guest->deadline <= guests->loop->now && budget && !ret;
	     guest = next) {
		next = TAILQ_NEXT(guest, link);
		budget = loop_left(guests->loop, budget - 1);
		/* What it sent in time may be in the CQ: that is looked at first. */
		if (guest->late &&
		    shared_is_drained(guest->shared, &guest->member)) {
			ret = expire(guests, guest);
		} else if (!guest->late) {
			guest->late = true;
			shared_mark(guest->shared, &guest->member);
		}
	}
	return ret;
}

/* ---- A turn of the loop ---- */

int64_t guests_sleep(const struct guests *guests)
{
	int64_t until = guests->more ? 0 : INT64_MAX;

	for (const struct shared *shared = guests->shared; shared;
	     shared = shared->next)
		if (shared->busy)
			until = 0;
	for (int state = 0; state < GUEST_STATES; state++) {
		const struct guest *first = TAILQ_FIRST(&guests->lists[state]);

		if (first && first->deadline < until)
			until = first->deadline;
	}
	return until;
}

int guests_turn(struct guests *guests)
{
	for (struct shared *shared = guests->shared; shared;
	     shared = shared->next)
		if (take_completions(guests, shared))
			return -1;
	for (int state = 0; state < GUEST_STATES; state++)
		if (expire_some(guests, state))
			return -1;
	let_go(guests);
	return 0;
}
