/*
 * guests.c - which guest a completion belongs to, and what it means there
 */
#include "guests.h"

#include <errno.h>
#include <stdlib.h>

#include "cm_help.h"
#include "log.h"
#include "log_wc.h"

void guests_move(struct guests *guests, struct guest *guest,
		 enum guest_state state)
{
	list_remove(&guests->lists[guest->state], &guest->link);
	guest->state = state;
	/* In one list all have the same time, so the first is due first. */
	list_append(&guests->lists[state], &guest->link);
	guest->deadline = guests->loop->now + guests->timeouts[state];
	loop_alarm(guests->loop, guest->deadline);
}

static int create_qp(struct guest *guest)
{
	struct hub *hub = guest->hub;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = hub->cq,
		.recv_cq = hub->cq,
		.srq = hub->receives.srq,
		.cap = {
			.max_send_wr = GUESTS_SENDS,
			.max_send_sge = 2,
		},
	};

	if (rdma_create_qp(guest->conn.id, hub->pd, &attr))
		return log_fail_errno(
			"rdma_create_qp", errno,
			"%zu clients are here; see max_qp in `ibv_devinfo -v`",
			hub->qps.count);
	guest->conn.qp = guest->conn.id->qp;
	guest->on_hub.entry.key = guest->conn.qp->qp_num;
	return 0;
}

struct guest *guests_add(struct guests *guests, struct hub *hub,
			 struct rdma_cm_id *id)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	if (!guest) {
		log_fail_errno("calloc", errno, "a client is not served");
		return NULL;
	}
	guest->hub = hub;
	guest->conn.id = id;
	if (cm_set_ack_timeout(id, CM_ACK_FULL) || create_qp(guest)) {
		free(guest);
		return NULL;
	}
	id->context = guest;
	guest->number = ++guests->arrived;
	guest->link.owner = guest;
	guest->data.conn = &guest->conn;
	guest->data.local = hub->local;
	guest->transfer.data = &guest->data;
	guest->transfer.mode = MODE_WRITE;
	table_add(&hub->qps, &guest->on_hub.entry);
	guests->count++;
	list_append(&guests->lists[GUEST_GREETS], &guest->link);
	guests_move(guests, guest, GUEST_GREETS);
	return guest;
}

void guests_settle(struct guests *guests, struct guest *guest)
{
	if (guest->state < GUEST_ENDS)
		guests_move(guests, guest,
			    guest->under_way ? GUEST_TAKES : GUEST_ASKS);
}

/* Whether its transfer is. */
static bool is_finished(const struct guest *guest)
{
	const struct states *states = &guest->transfer.states;

	return states->send == SS_DONE_SENT && states->recv == RS_DONE_RECV;
}

/* Takes and gives back what the transfer lent and borrowed. */
static void end_transfer(struct guest *guest)
{
	if (!guest->held)
		return;
	region_close(&guest->data.exposed);
	receives_release(&guest->hub->receives, guest->held);
	guest->held = NULL;
	guest->data.messages = (struct region){ 0 };
}

/*
 * The guest's first message: lends it memory until the transfer is finished. Our own
 * messages follow it there, so the receive is not posted again before they have gone.
 */
static int begin_transfer(struct guest *guest, struct receive *receive)
{
	struct msg msg;

	/* Nothing is lent to who begins with anything but a MSG_MR. */
	if (msg_decode(&msg, receive->bytes, receive->length))
		return -1;
	if (msg.type != MSG_MR)
		return log_fail(
			"protocol error: a message of type %d where MSG_MR was expected",
			msg.type);
	receive->users++;
	guest->held = receive;
	guest->data.messages.buf = receive->bytes + MSG_SIZE;
	guest->data.messages.mr = receive->mr;
	return region_open(&guest->data.exposed, guest->hub->pd,
			   guest->hub->local.size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

/* The machines of 02_write_read take the next step. */
static int on_transfer(struct guests *guests, struct guest *guest,
		       const struct ibv_wc *wc)
{
	int ret = transfer_completion(&guest->transfer, wc);

	if (ret > 0) {
		ret = guests->on_finish(guests, guest);
		end_transfer(guest);
		guests_settle(guests, guest);
	}
	return ret;
}

/* What a client sent. */
static int on_receive(struct guests *guests, struct guest *guest,
		      struct receive *receive, struct ibv_wc *wc)
{
	const struct states *states = &guest->transfer.states;

	if (guest->state == GUEST_LEAVES)
		return 0;
	/* Its time begins again, unless it is our answers that it must take. */
	if (guest->state <= GUEST_ASKS)
		guests_move(guests, guest, guest->state);
	if (wc->status != IBV_WC_SUCCESS)
		return log_fail_wc("receive", wc);
	if (wc->opcode != IBV_WC_RECV)
		return log_fail(
			"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
			wc->opcode);
	receive->length = wc->byte_len;
	/* It may have our MSG_DONE, and ask, before that is acknowledged. */
	if (states->send >= SS_RDMA_SENT && states->recv == RS_DONE_RECV)
		return guests->on_message(guests, guest, receive);
	if (!guest->data.messages.buf && begin_transfer(guest, receive))
		return -1;
	/* As in 02_write_read, where nothing else is in a wr_id. */
	wc->wr_id = (uintptr_t)receive->bytes;
	return on_transfer(guests, guest, wc);
}

/* A request of ours is complete. */
static int on_send(struct guests *guests, struct guest *guest,
		   const struct ibv_wc *wc)
{
	enum work work = wc->wr_id & WORK_MASK;

	guest->conn.pending--;
	guest->under_way -= work == WORK_ANSWER;
	/* It was flushed, like all that is posted when somebody leaves. */
	if (guest->state == GUEST_LEAVES)
		return 0;
	if (work == WORK_GREETING && !is_finished(guest))
		return on_transfer(guests, guest, wc);
	if (wc->status != IBV_WC_SUCCESS)
		return log_fail_wc("send", wc);
	return guests->on_sent ? guests->on_sent(guests, guest) : 0;
}

static void on_completion(struct guests *guests, struct hub *hub,
			  struct ibv_wc *wc)
{
	/* The wr_id of a shared receive cannot say whose message it is. */
	struct guest *guest = (void *)table_find(&hub->qps, wc->qp_num);
	/* Nor can the opcode of a failed completion say that it is a receive. */
	enum work work = wc->wr_id & WORK_MASK;
	struct receive *receive = receives_find(wc->wr_id);
	int ret = 0;

	if (work == WORK_RECEIVE)
		receives_take(&hub->receives, receive);
	if (guest) {
		log_prefix("Client %u: ", guest->number);
		log_hush(guests->quiet);
		ret = work == WORK_RECEIVE ?
			      on_receive(guests, guest, receive, wc) :
			      on_send(guests, guest, wc);
	}
	/* Whose message it was, and what came of it, does not matter. */
	if (work != WORK_GREETING)
		receives_release(&hub->receives, receive);
	log_hush(false);
	/* One guest's failure is no other's. */
	if (ret < 0)
		guests_leave(guests, guest);
	log_prefix("%s", "");
}

void guests_leave(struct guests *guests, struct guest *guest)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int err;

	if (guest->state == GUEST_LEAVES)
		return;
	guests_move(guests, guest, GUEST_LEAVES);
	while (guest->waits)
		receives_release(&guest->hub->receives,
				 guest->waiting[--guest->waits]);
	conn_end(&guest->conn);
	/* Also if there was no connection yet. All that is posted is flushed. */
	err = ibv_modify_qp(guest->conn.qp, &attr, IBV_QP_STATE);
	if (err)
		log_fail_errno("ibv_modify_qp", err, "to the error state");
	if (guests->on_leave)
		guests->on_leave(guests, guest);
	/* What it has received is in the CQ already. */
	hub_mark(guest->hub, &guest->on_hub);
}

void guests_left(struct guests *guests, struct guest *guest)
{
	if (guest->state >= GUEST_ENDS)
		return;
	guest->conn.peer_left = true;
	guests_move(guests, guest, GUEST_ENDS);
	hub_mark(guest->hub, &guest->on_hub);
}

void guests_leave_all(struct guests *guests)
{
	struct guest *guest;

	for (int state = GUEST_GREETS; state < GUEST_LEAVES; state++)
		while ((guest = list_first(&guests->lists[state])))
			guests_leave(guests, guest);
}

/* In the reverse order of creation. */
static void free_guest(struct guests *guests, struct guest *guest)
{
	if (!guests->quiet)
		log_line("[LOG] closing connection id=%p",
			 (void *)guest->conn.id);
	end_transfer(guest);
	table_remove(&guest->hub->qps, &guest->on_hub.entry);
	list_remove(&guests->lists[guest->state], &guest->link);
	guests->count--;
	conn_close(&guest->conn);
	free(guest);
}

/* Whether nothing that its state waits for can come any more. */
static bool is_done(const struct guest *guest)
{
	if (!hub_is_drained(guest->hub, &guest->on_hub))
		return false;
	/* Drain by count: a flushed request is a completion, too. */
	return guest->state == GUEST_ENDS ||
	       (!guest->conn.pending &&
		(guest->on_hub.last || !guest->hub->tells));
}

/* Lets some of those go whose messages have been taken off the CQ. */
static void let_go(struct guests *guests)
{
	int budget = GUESTS_BUDGET;

	for (int state = GUEST_ENDS; state <= GUEST_LEAVES; state++) {
		struct link *link = guests->lists[state].first, *next;

		for (; link && budget; link = next) {
			struct guest *guest = link->owner;

			next = link->next;
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

/* Takes completions off the CQ of hub, as many as are a turn's share. */
static int take_completions(struct guests *guests, struct hub *hub)
{
	struct ibv_wc wc[HUB_POLL];

	for (int budget = HUB_BUDGET; hub->busy && budget;
	     budget = loop_left(guests->loop, budget - HUB_POLL)) {
		int n = hub_poll(hub, wc);

		if (n < 0)
			return -1;
		for (int i = 0; i < n; i++)
			on_completion(guests, hub, &wc[i]);
	}
	return 0;
}

int guests_turn(struct guests *guests)
{
	for (struct hub *hub = guests->hubs; hub; hub = hub->next)
		if (take_completions(guests, hub))
			return -1;
	let_go(guests);
	return 0;
}

bool guests_are_busy(const struct guests *guests)
{
	const struct hub *hub = guests->hubs;

	while (hub && !hub->busy)
		hub = hub->next;
	return hub || guests->more;
}

void guests_free_all(struct guests *guests)
{
	struct guest *guest;

	for (int state = 0; state < GUEST_STATES; state++)
		while ((guest = list_first(&guests->lists[state]))) {
			log_prefix("Client %u: ", guest->number);
			free_guest(guests, guest);
		}
	log_prefix("%s", "");
}
