/*
 * conn.c - from an address to a connected queue pair, and back to nothing
 */
#include "conn.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>

#include "log.h"
#include "msg_check.h"
#include "psn.h"
#include "qp.h"

/* What both sides do once they have a connection for the exchange. */
static int find_source(struct conn *conn)
{
	if (device_source(conn->device, oob_local(conn->oob), &conn->source))
		return -1;
	conn->mine.gid = conn->source.gid;
	conn->mine.lid = conn->source.port.lid;
	conn->mine.mtu = conn->source.port.active_mtu;
	return 0;
}

int conn_request(struct conn *conn, struct listener *listener,
		 const struct patience *patience)
{
	conn->patience = *patience;
	conn->oob = oob_accept(listener->oob, patience);
	if (!conn->oob)
		return -1;
	log_line("received connection request.");
	conn->device = devices_find(&listener->devices, oob_local(conn->oob));
	if (!conn->device || find_source(conn))
		return -1;
	return oob_recv_params(conn->oob, &conn->peer,
			       device_is_roce(conn->device));
}

int conn_resolve(struct conn *conn, const struct options *options,
		 const struct patience *patience)
{
	conn->patience = *patience;
	conn->oob = oob_connect(options, patience);
	if (!conn->oob)
		return -1;
	log_line("exchange connected.");
	/* The route that TCP took to the server shows which device to use. */
	if (devices_open_one(&conn->own, options, oob_local(conn->oob)))
		return -1;
	conn->device = &conn->own;
	return find_source(conn);
}

int conn_choose_psn(struct conn *conn, const struct options *options)
{
	if (options->psn < 0)
		return psn_draw(&conn->mine.psn);
	conn->mine.psn = options->psn;
	return 0;
}

/* The PD, and the CQ with its channel. */
static int create_cq(struct conn *conn, unsigned int entries)
{
	struct ibv_context *verbs = conn->device->verbs;

	conn->pd = ibv_alloc_pd(verbs);
	if (!conn->pd)
		return log_fail_errno("ibv_alloc_pd", errno,
				      "see `rdma resource show`");
	conn->comp = ibv_create_comp_channel(verbs);
	if (!conn->comp)
		return log_fail_errno("ibv_create_comp_channel", errno,
				      "see \"ulimit -n\"");
	if (wait_nonblocking(conn->comp->fd, "ibv_create_comp_channel"))
		return -1;
	conn->cq = ibv_create_cq(verbs, entries, NULL, conn->comp, 0);
	if (!conn->cq)
		return log_fail_errno("ibv_create_cq", errno,
				      "see `rdma resource show`");
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
		/* Each send says whether it wants a completion. */
		.sq_sig_all = 0,
	};

	/* Room for every completion that can be outstanding at once. */
	if (create_cq(conn, sends + receives))
		return -1;
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	conn->qp = ibv_create_qp(conn->pd, &attr);
	if (!conn->qp)
		return log_fail_errno("ibv_create_qp", errno,
				      "see `rdma resource show`");
	conn->mine.qpn = conn->qp->qp_num;
	return qp_to_init(conn->qp, conn->device, access);
}

/* Both know all parameters: takes the queue pair from INIT to RTS. */
static int establish(struct conn *conn)
{
	enum ibv_mtu mtu = conn->mine.mtu;

	params_print("local: ", &conn->mine);
	params_print("remote:", &conn->peer);
	if (msg_check_same(conn->mine.mode, conn->mine.mem.length,
			   conn->peer.mode, &conn->peer.mem))
		return -1;
	/* A packet must fit the port with the smaller MTU. */
	if (conn->peer.mtu < mtu)
		mtu = conn->peer.mtu;
	if (qp_to_rtr(conn->qp, conn->device, &conn->source, &conn->peer, mtu))
		return -1;
	if (qp_to_rts(conn->qp, conn->device, conn->mine.psn))
		return -1;
	log_line("Local PSN: 0x%06" PRIx32 ", Remote PSN: 0x%06" PRIx32,
		 conn->mine.psn, conn->peer.psn);
	/* Anything sent before the peer is in RTR is lost. */
	if (oob_ready(conn->oob))
		return -1;
	log_line("both sides are READY.");
	return 0;
}

int conn_accept(struct conn *conn)
{
	if (oob_send_params(conn->oob, &conn->mine))
		return -1;
	return establish(conn);
}

int conn_connect(struct conn *conn)
{
	if (oob_send_params(conn->oob, &conn->mine) ||
	    oob_recv_params(conn->oob, &conn->peer,
			    device_is_roce(conn->device)))
		return -1;
	return establish(conn);
}

void conn_end(struct conn *conn)
{
	/* The peer takes this for a failure, unless we said goodbye before. */
	if (conn->oob)
		(void)shutdown(oob_fd(conn->oob), SHUT_WR);
}

void conn_close(struct conn *conn)
{
	int err;

	/* The reverse of the order in which they were made. */
	if (conn->qp && (err = ibv_destroy_qp(conn->qp)))
		log_fail_errno("ibv_destroy_qp", err, "it is lost");
	if (conn->cq && (err = ibv_destroy_cq(conn->cq)))
		log_fail_errno("ibv_destroy_cq", err, "it is lost");
	if (conn->comp && (err = ibv_destroy_comp_channel(conn->comp)))
		log_fail_errno("ibv_destroy_comp_channel", err, "it is lost");
	if (conn->pd && (err = ibv_dealloc_pd(conn->pd)))
		log_fail_errno("ibv_dealloc_pd", err,
			       "does a memory region of it still exist");
	device_close(&conn->own);
	oob_close(conn->oob);
	*conn = (struct conn){ 0 };
}
