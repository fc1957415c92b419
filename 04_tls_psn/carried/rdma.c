/*
 * rdma.c - from an address to a connected queue pair, and back
 */
#include "rdma.h"

#include <errno.h>
#include <inttypes.h>

#include "explain.h"
#include "log.h"

/* ---- Meeting the peer ---- */

int conn_listen(struct conn *listener, const struct oob_way *way)
{
	const struct sockaddr *local = (struct sockaddr *)&listener->oob.local;

	if (oob_listen(&listener->oob, way))
		return -1;
	/*
	 * A client's connection will show which device it comes by. If we
	 * listen on one address, its device must be there now.
	 */
	return device_open(listener->devices, CONN_DEVICES, listener->network,
			   way->address ? local : NULL);
}

int conn_next(struct conn *listener, struct oob *client)
{
	int n;

	do {
		if (wait_readable(listener->oob.line.fd, -1,
				  listener->patience.stop_fd,
				  wait_deadline(-1)) < 0)
			return errno == ECANCELED ? 0 :
						    explain_call("poll", errno);
		/* A client that has left again is no reason to end. */
		n = oob_next(&listener->oob, client);
	} while (n == 0);
	return n;
}

int conn_take(struct conn *conn, const struct oob *client)
{
	conn->oob = *client;
	return oob_accept(&conn->oob, &conn->patience);
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
	const struct sockaddr *local = (struct sockaddr *)&conn->oob.local;

	if (sharer)
		conn->device = device_find(sharer->devices, CONN_DEVICES,
					   conn->network, local);
	else if (!device_open(conn->devices, 1, conn->network, local))
		conn->device = &conn->devices[0];
	return conn->device ? qp_find_source(conn) : -1;
}

/* ---- The queue pair ---- */

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

	/* The option's, or one that nobody can predict. */
	conn->mine.psn = conn->network->psn;
	if (conn->network->psn < 0 && oob_draw_psn(&conn->mine.psn))
		return -1;
	/* Room for every completion that can be outstanding at once. */
	if (conn_create_cq(conn, conn->device->verbs, sends + receives))
		return -1;
	attr.send_cq = attr.recv_cq = conn->cq;
	conn->qp = ibv_create_qp(conn->pd, &attr);
	if (!conn->qp)
		return explain_call("ibv_create_qp", errno);
	conn->mine.qpn = conn->qp->qp_num;
	return qp_to_init(conn, access);
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

/* ---- News of the peer ---- */

/*
 * Verbs say nothing about a peer that has left. But the kernel closes the
 * connection of the exchange when the peer's program ends, however it ends, and a
 * side that is done says goodbye first.
 */
int conn_news(struct conn *conn)
{
	if (oob_check(&conn->oob))
		return -1;
	/* What a peer that is done has sent can still arrive. */
	return conn->oob.peer_left ? conn_to_err(conn) : 0;
}

int conn_fd(const struct conn *conn)
{
	/* A peer that has said goodbye, or is gone, sends nothing more. */
	if (conn->oob.peer_done || conn->oob.peer_left || conn->ending)
		return -1;
	return conn->oob.line.fd;
}

/* ---- The end ---- */

/* A side that lacks something says none, so that the other one fails, too. */
static int wait_goodbye(struct conn *conn)
{
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);

	while (!conn->oob.peer_done && !conn->oob.peer_left) {
		if (wait_readable(conn->oob.line.fd, -1, conn->patience.stop_fd,
				  deadline) < 0)
			return wait_fail("the peer's goodbye", errno,
					 &conn->patience);
		if (conn_news(conn))
			return -1;
	}
	/* TCP ends the same way if the peer failed, was killed or cut off. */
	if (!conn->oob.peer_done)
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

void conn_end(struct conn *conn)
{
	int flushed;

	oob_end(&conn->oob);
	flushed = conn_flush(conn);
	if (flushed)
		log_line("drained: %d posted requests were flushed.", flushed);
}

int conn_close(struct conn *conn)
{
	int err, ret = 0;

	/* The reverse of the order in which they were made. */
	if (conn->qp && (err = ibv_destroy_qp(conn->qp)))
		ret = explain_call("ibv_destroy_qp", err);
	if (conn_destroy_cq(conn))
		ret = -1;
	device_close(conn->devices, CONN_DEVICES);
	oob_close(&conn->oob);
	*conn = (struct conn){ 0 };
	return ret;
}
