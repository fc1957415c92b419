/*
 * rdma.c - connections, memory, requests and their completions
 */
#include "rdma.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "explain.h"
#include "log.h"
#include "qp.h"

/* ---- Meeting the peer ---- */

int conn_listen(struct conn *listener, const struct oob_way *way)
{
	const struct sockaddr *local = NULL;

	if (oob_listen(&listener->oob, way))
		return -1;
	/*
	 * A client's connection will show which device it comes by. If we
	 * listen on one address, its device must be there now.
	 */
	if (way->address)
		local = oob_local(&listener->oob);
	return device_open(listener->devices, CONN_DEVICES, listener->network,
			   local);
}

int conn_next(struct conn *listener, struct oob *client)
{
	int n;

	do {
		if (wait_readable(oob_fd(&listener->oob), -1,
				  listener->patience.stop_fd,
				  wait_deadline(-1)) < 0)
			return errno == ECANCELED ? 0 :
						    explain_call("poll", errno);
		/* A client that has left again is no reason to end. */
		n = oob_next(&listener->oob, client);
	} while (n == 0);
	return n;
}

int conn_take(struct conn *conn, const struct conn *listener,
	      const struct oob *client)
{
	conn->oob = *client;
	return oob_accept(&conn->oob, &listener->oob, &conn->patience);
}

int conn_request(struct conn *conn, const struct conn *listener)
{
	log_line("received connection request.");
	if (conn_find_device(conn, listener))
		return -1;
	return oob_recv_params(&conn->oob, &conn->peer, conn->device->roce);
}

int conn_resolve(struct conn *conn, const struct oob_way *way)
{
	if (oob_connect(&conn->oob, way, &conn->patience))
		return -1;
	log_line("exchange connected.");
	return 0;
}

int conn_find_device(struct conn *conn, const struct conn *sharer)
{
	/* The way that TCP takes between the two shows which device to use. */
	const struct sockaddr *local = oob_local(&conn->oob);

	if (sharer)
		conn->device = device_find(sharer->devices, CONN_DEVICES,
					   conn->network, local);
	else if (!device_open(conn->devices, 1, conn->network, local))
		conn->device = &conn->devices[0];
	return conn->device ? qp_find_source(conn) : -1;
}

/* ---- The queue pair, and memory ---- */

/* Asks for an event at the next completion: for one event, once. */
static int arm(struct conn *conn)
{
	int err = ibv_req_notify_cq(conn->cq, 0);

	return err ? explain_call("ibv_req_notify_cq", err) : 0;
}

static int create_cq(struct conn *conn, int entries)
{
	struct ibv_context *verbs = conn->device->verbs;

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

static int choose_psn(struct conn *conn)
{
	if (conn->network->psn < 0)
		return oob_draw_psn(&conn->mine.psn);
	conn->mine.psn = conn->network->psn;
	return 0;
}

int conn_create_qp(struct conn *conn, unsigned int sends, unsigned int receives,
		   unsigned int access)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = sends,
			.max_recv_wr = receives,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	/* Room for every completion that can be outstanding at once. */
	if (choose_psn(conn) || create_cq(conn, sends + receives))
		return -1;
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	conn->qp = ibv_create_qp(conn->pd, &attr);
	if (!conn->qp)
		return explain_call("ibv_create_qp", errno);
	conn->mine.qpn = conn->qp->qp_num;
	return qp_to_init(conn, access);
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

/* ---- From INIT to RTS, together ---- */

/* Both know all parameters. */
static int establish(struct conn *conn)
{
	params_print("local: ", &conn->mine);
	params_print("remote:", &conn->peer);
	if (qp_to_rtr(conn) || qp_to_rts(conn))
		return -1;
	log_line("Local PSN: 0x%06" PRIx32 ", Remote PSN: 0x%06" PRIx32,
		 conn->mine.psn, conn->peer.psn);
	/* Anything sent before the peer is in RTR is lost. */
	if (oob_ready(&conn->oob))
		return -1;
	log_line("both sides are READY.");
	return 0;
}

int conn_accept(struct conn *conn)
{
	if (oob_send_params(&conn->oob, &conn->mine))
		return -1;
	return establish(conn);
}

int conn_connect(struct conn *conn)
{
	if (oob_send_params(&conn->oob, &conn->mine))
		return -1;
	if (oob_recv_params(&conn->oob, &conn->peer, conn->device->roce))
		return -1;
	return establish(conn);
}

/* ---- Waiting ---- */

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

/*
 * Verbs say nothing about a peer that has left. But the kernel closes the
 * connection of the exchange when the peer's program ends, however it ends, and a
 * side that is done says goodbye first.
 */
static int check_peer(struct conn *conn)
{
	switch (oob_check(&conn->oob)) {
	case OOB_THERE:
		return 0;
	case OOB_SAID_BYE:
		/* It waits for ours. What is on its way can still arrive. */
		conn->peer_done = true;
		return 0;
	case OOB_GONE:
		conn->peer_left = true;
		return qp_to_err(conn);
	default:
		return -1;
	}
}

/* What is readable when there is news of the peer; -1 if nobody wants any. */
static int peer_fd(const struct conn *conn)
{
	/* A peer that has said goodbye, or is gone, sends nothing more. */
	if (conn->peer_done || conn->peer_left || conn->ending)
		return -1;
	return oob_fd(&conn->oob);
}

int conn_wait(struct conn *conn, struct ibv_wc *wc, const char *what)
{
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);
	int n, news;

	/*
	 * The CQ is armed whenever we poll it. So a completion that comes
	 * between the poll and the sleep makes an event, which ends the sleep.
	 */
	while ((n = ibv_poll_cq(conn->cq, 1, wc)) == 0) {
		news = wait_readable(conn->comp->fd, peer_fd(conn),
				     conn->patience.stop_fd, deadline);
		if (news < 0)
			return wait_fail(what, errno, &conn->patience);
		/* Handle what the peer sent before we handle that it left. */
		if (news & WAIT_FIRST ? take_cq_event(conn) : check_peer(conn))
			return -1;
	}
	if (n < 0)
		return explain_call("ibv_poll_cq", 0);
	conn->pending--;
	return 0;
}

/* ---- The end ---- */

static int wait_goodbye(struct conn *conn)
{
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);

	while (!conn->peer_done && !conn->peer_left) {
		if (wait_readable(oob_fd(&conn->oob), -1,
				  conn->patience.stop_fd, deadline) < 0)
			return wait_fail("the peer's goodbye", errno,
					 &conn->patience);
		if (check_peer(conn))
			return -1;
	}
	/* TCP ends the same way if the peer failed, was killed or cut off. */
	if (!conn->peer_done)
		return log_fail(
			"the peer's connection ended without a goodbye: it may lack something of what we sent, even if all of that completed with success; see what it says [docs/troubleshooting.md#left]");
	return 0;
}

int conn_disconnect(struct conn *conn)
{
	if (oob_bye(&conn->oob) || wait_goodbye(conn))
		return -1;
	log_line("disconnected.");
	return 0;
}

int conn_wait_disconnect(struct conn *conn)
{
	if (wait_goodbye(conn) || oob_bye(&conn->oob))
		return -1;
	log_line("peer disconnected.");
	return 0;
}

/*
 * Until a request completes, its memory belongs to the device. In the error
 * state, every request comes back at once: most of them "flushed".
 */
void conn_end(struct conn *conn)
{
	int err = 0, flushed = 0;
	struct ibv_wc wc;

	oob_end(&conn->oob);
	/* From here on, neither a signal nor the peer ends a wait early. */
	conn->ending = true;
	conn->patience.stop_fd = -1;
	if (conn->pending)
		err = qp_to_err(conn);
	while (conn->pending && !err) {
		err = conn_wait(conn, &wc, "the flush of all posted requests");
		flushed += !err && wc.status == IBV_WC_WR_FLUSH_ERR;
	}
	if (flushed)
		log_line("drained: %d posted requests were flushed.", flushed);
}

int conn_close(struct conn *conn)
{
	int err, ret = 0;

	/* The reverse of the order in which they were made. */
	if (conn->qp && (err = ibv_destroy_qp(conn->qp)))
		ret = explain_call("ibv_destroy_qp", err);
	if (conn->cq && (err = ibv_destroy_cq(conn->cq)))
		ret = explain_call("ibv_destroy_cq", err);
	if (conn->comp && (err = ibv_destroy_comp_channel(conn->comp)))
		ret = explain_call("ibv_destroy_comp_channel", err);
	if (conn->pd && (err = ibv_dealloc_pd(conn->pd)))
		ret = explain_call("ibv_dealloc_pd", err);
	device_close(conn->devices, CONN_DEVICES);
	oob_close(&conn->oob);
	*conn = (struct conn){ 0 };
	return ret;
}
