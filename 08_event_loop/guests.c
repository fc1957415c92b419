/*
 * guests.c - which guest a completion belongs to, and how guests come and go
 */
#include "guests.h"

#include <errno.h>
#include <stdlib.h>

#include "explain.h"
#include "log.h"

/* The most guests that one turn ends, frees, or finds to be too late. */
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
}

void guests_open(struct guests *guests)
{
	for (int state = 0; state < GUEST_STATES; state++)
		TAILQ_INIT(&guests->lists[state]);
}

static int create_qp(struct guest *guest)
{
	struct shared *shared = guest->talk.shared;
	struct rdma_cm_id *id = guest->talk.id;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = shared->all.cq,
		.recv_cq = shared->all.cq,
		.srq = shared->srq,
		.cap = {
			.max_send_wr = TALK_SENDS,
			.max_send_sge = 1,
			.max_inline_data = sizeof(struct msg),
		},
	};
	/* As in rdma.c, but 4.096 us * 2^18: so many may take a second. */
	uint8_t timeout = 18;

	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			    &timeout, sizeof(timeout)))
		return explain_call("rdma_set_option", errno);
	if (rdma_create_qp(id, shared->all.pd, &attr))
		return explain_call("rdma_create_qp", errno);
	shared_add(shared, &guest->member, id->qp->qp_num);
	return 0;
}

struct guest *guests_add(struct guests *guests, struct shared *shared,
			 struct rdma_cm_id *id)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	if (!guest) {
		explain_call("calloc", errno);
		return NULL;
	}
	guest->talk.shared = shared;
	guest->talk.id = id;
	if (create_qp(guest)) {
		free(guest);
		return NULL;
	}
	id->context = guest;
	guest->number = ++guests->arrived;
	guests->count++;
	TAILQ_INSERT_TAIL(&guests->lists[GUEST_GREETS], guest, link);
	move(guests, guest, GUEST_GREETS);
	return guest;
}

/* ---- A guest leaves ---- */

void guests_leave(struct guests *guests, struct guest *guest)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rdma_cm_id *id = guest->talk.id;
	int err;

	if (guest->state == GUEST_LEAVES)
		return;
	move(guests, guest, GUEST_LEAVES);
	/* Also if it disconnected first: it waits for this. */
	if (guest->established && rdma_disconnect(id))
		explain_call("rdma_disconnect", errno);
	/* Also if there was no connection yet. All that is posted is flushed. */
	err = ibv_modify_qp(id->qp, &attr, IBV_QP_STATE);
	if (err)
		explain_call("ibv_modify_qp", err);
	if (guest->has_left)
		log_line("peer disconnected after %lu requests.",
			 guest->talk.count);
	/* What it has received is in the CQ already. */
	shared_mark(guest->talk.shared, &guest->member);
}

void guests_left(struct guests *guests, struct guest *guest)
{
	if (guest->state >= GUEST_ENDS)
		return;
	guest->has_left = true;
	move(guests, guest, GUEST_ENDS);
	shared_mark(guest->talk.shared, &guest->member);
}

void guests_leave_all(struct guests *guests)
{
	struct guest *guest;

	for (int state = GUEST_GREETS; state < GUEST_LEAVES; state++)
		while ((guest = TAILQ_FIRST(&guests->lists[state])))
			guests_leave(guests, guest);
}

/* In the reverse order of creation. */
static void free_guest(struct guests *guests, struct guest *guest)
{
	struct rdma_cm_id *id = guest->talk.id;

	if (!guests->quiet)
		log_line("[LOG] closing connection id=%p", (void *)id);
	talk_close(&guest->talk);
	shared_remove(guest->talk.shared, &guest->member);
	TAILQ_REMOVE(&guests->lists[guest->state], guest, link);
	guests->count--;
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		explain_call("rdma_destroy_id", errno);
	free(guest);
}

/* Whether nothing that its state waits for can come any more. */
static bool is_done(const struct guest *guest)
{
	const struct shared *shared = guest->talk.shared;

	if (!shared_is_drained(shared, &guest->member))
		return false;
	/* Drain by count: a flushed request is a completion, too. */
	return guest->state == GUEST_ENDS ||
	       (!guest->talk.pending && (guest->member.last || !shared->tells));
}

/* Lets some of those go whose messages have been taken off the CQ. */
static void let_go(struct guests *guests)
{
	int budget = BUDGET;

	for (int state = GUEST_ENDS; state <= GUEST_LEAVES; state++) {
		struct guest *guest, *next;

		for (guest = TAILQ_FIRST(&guests->lists[state]);
		     guest && budget; guest = next) {
			next = TAILQ_NEXT(guest, link);
			if (!is_done(guest))
				continue;
			log_prefix("Client %u: ", guest->number);
			if (state == GUEST_LEAVES)
				free_guest(guests, guest);
			else
				guests_leave(guests, guest);
			budget = loop_left(guests->loop, budget - 1);
		}
	}
	log_prefix("%s", "");
	guests->more = !budget;
}

void guests_close(struct guests *guests)
{
	struct guest *guest;

	for (int state = 0; state < GUEST_STATES; state++)
		while ((guest = TAILQ_FIRST(&guests->lists[state]))) {
			log_prefix("Client %u: ", guest->number);
			free_guest(guests, guest);
		}
	log_prefix("%s", "");
}

/* ---- A guest has a completion ---- */

/* It has taken or sent something: which state is it in, and does its time begin anew? */
static void settle(struct guests *guests, struct guest *guest, bool received)
{
	enum guest_state state = GUEST_GREETS;

	if (talk_is_greeted(&guest->talk))
		state = guest->talk.under_way ? GUEST_TAKES : GUEST_ASKS;
	/* To ask for more is no excuse for who takes no answer. */
	if (state != guest->state || state != GUEST_TAKES || !received)
		move(guests, guest, state);
}

static void on_completion(struct guests *guests, struct shared *shared,
			  const struct ibv_wc *wc)
{
	/* The wr_id of a shared receive cannot say whose message it is. */
	struct guest *guest = (void *)shared_find(shared, wc->qp_num);
	/* Nor can the opcode of a failed completion say that it is a receive. */
	bool received = (wc->wr_id & WORK_MASK) == WORK_RECEIVE;
	struct receive *receive = receive_of(wc->wr_id);
	int ret = 0;

	if (received)
		receive_take(shared, receive);
	else if (guest)
		guest->talk.pending--;
	/* Of who leaves, all is flushed, and what it has sent comes too late. */
	if (guest && guest->state < GUEST_LEAVES) {
		log_prefix("Client %u: ", guest->number);
		log_hush(guests->quiet);
		ret = received ? talk_receive(&guest->talk, wc) :
				 talk_send(&guest->talk, wc);
		log_hush(false);
		/* One guest's failure is no other's. */
		if (ret)
			guests_leave(guests, guest);
		else if (guest->state < GUEST_ENDS)
			settle(guests, guest, received);
		log_prefix("%s", "");
	}
	/* Whose message it was, and what came of it, does not matter. */
	if (receive)
		receive_release(shared, receive);
}

/* Takes completions off the CQ, as many as are a turn's share. */
static int take_completions(struct guests *guests, struct shared *shared)
{
	struct ibv_wc wc[SHARED_POLL];

	for (int budget = SHARED_BUDGET; shared->busy && budget;
	     budget = loop_left(guests->loop, budget - SHARED_POLL)) {
		int n = shared_poll(shared, wc);

		if (n < 0)
			return -1;
		for (int i = 0; i < n; i++)
			on_completion(guests, shared, &wc[i]);
	}
	return 0;
}

/* ---- A guest is late ---- */

/* Returns 0, or -1 after reporting why all are lost. */
static int expire(struct guests *guests, struct guest *guest)
{
	double seconds = guests->timeouts[guest->state] / 1000.0;

	switch (guest->state) {
	case GUEST_LEAVES:
		/* That event may never come. */
		guest->member.last = true;
		move(guests, guest, GUEST_LEAVES);
		if (!guest->talk.pending)
			return 0;
		return log_fail(
			"the flush of all posted requests: nothing came within %g s; the device is unusable",
			seconds);
	case GUEST_GREETS:
		log_fail(
			"the transfer: nothing came within %g s; is the peer alive, and is -t long enough for it [docs/troubleshooting.md#silent]",
			seconds);
		break;
	case GUEST_TAKES:
		log_fail(
			"an answer was not taken within %g s; the client is sent away [docs/troubleshooting.md#silent]",
			seconds);
		break;
	case GUEST_ENDS:
		break;
	default:
		log_fail(
			"a request: nothing came within %g s; the client is sent away [docs/troubleshooting.md#silent]",
			seconds);
	}
	guests_leave(guests, guest);
	return 0;
}

/* Sends away some of those that are late. */
static int expire_some(struct guests *guests)
{
	int budget = BUDGET, ret = 0;

	for (int state = 0; state < GUEST_STATES && !ret; state++) {
		struct guest *guest;

		while (!ret && budget &&
		       (guest = TAILQ_FIRST(&guests->lists[state])) &&
		       guest->deadline <= guests->loop->now) {
			/* What it sent in time may be in the CQ. */
			if (guest->talk.shared->served < guest->deadline) {
				guest->talk.shared->busy = true;
				break;
			}
			log_prefix("Client %u: ", guest->number);
			ret = expire(guests, guest);
			log_prefix("%s", "");
			budget = loop_left(guests->loop, budget - 1);
		}
	}
	return ret;
}

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
	if (expire_some(guests))
		return -1;
	let_go(guests);
	return 0;
}
