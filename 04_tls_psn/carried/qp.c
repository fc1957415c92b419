/*
 * qp.c - a queue pair, and its states
 */
#include "rdma.h"

#include <inttypes.h>

#include "addr.h"
#include "explain.h"
#include "gid.h"
#include "log.h"

/*
 * After this long without an acknowledgement, a packet is sent again: 4.096 us
 * times 2 to this power, here 67 ms. 0 would mean never. One message at a time is
 * on its way: we allow 2 ms for the network's round trip (an assumption), 11 ms
 * for 128 KiB at 100 Mb/s, and the rest for the peer's processor.
 */
#define TIMEOUT 14

/* How many times it is sent again. 7 means "for ever" on rxe, so we take 6. */
#define RETRY_CNT 6

/* ---- Where we are ourselves ---- */

int qp_find_source(struct conn *conn)
{
	const struct sockaddr *local = (struct sockaddr *)&conn->oob.local;
	const struct device *device = conn->device;
	struct ibv_port_attr port;
	int err = ibv_query_port(device->verbs, device->port_num, &port);

	if (err)
		return explain_call("ibv_query_port", err);
	conn->gid_index = conn->network->gid_index;
	if (conn->gid_index < 0 && device->roce)
		conn->gid_index =
			gid_find(device->verbs, device->port_num, local);
	else if (conn->gid_index < 0)
		conn->gid_index = 0;
	if (conn->gid_index < 0)
		return addr_explain_no_device(local);
	conn->needs_grh = device->roce || port.flags & IBV_QPF_GRH_REQUIRED;
	conn->mine.lid = port.lid;
	conn->mine.mtu = network_mtu(conn->network, port.active_mtu);
	return gid_query(device->verbs, device->port_num, conn->gid_index,
			 device->roce, &conn->mine.gid);
}

/* ---- The states ---- */

/* Takes the queue pair to the state in attr. ibv_modify_qp() returns the errno. */
static int change(struct conn *conn, struct ibv_qp_attr *attr, int mask,
		  const char *step)
{
	int err = ibv_modify_qp(conn->qp, attr, mask | IBV_QP_STATE);

	if (err)
		return log_fail_errno(
			"ibv_modify_qp", err,
			"%s: is each attribute in the mask, was the state before the right one, are the GIDs of both ends (-g) of one network [docs/troubleshooting.md#rtr]",
			step);
	return 0;
}

int qp_to_init(struct conn *conn, unsigned int access)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		/* The partition: index 0 is the default one in most subnets. */
		.pkey_index = 0,
		.port_num = conn->device->port_num,
		.qp_access_flags = access,
	};

	network_ask(conn->network, &attr);
	if (change(conn, &attr,
		   IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		   "RESET to INIT"))
		return -1;
	log_line("RESET -> INIT: port_num=%d, qp_access_flags=0x%x",
		 attr.port_num, access);
	return 0;
}

/*
 * The way to the peer: on RoCE by its GID, on InfiniBand by its LID, and by its
 * GID as well where the port says so. A subnet manager may want a service level
 * other than 0 for this path, but we do not ask it: see network_ask().
 */
static struct ibv_ah_attr address_vector(const struct conn *conn)
{
	struct ibv_ah_attr ah = { .port_num = conn->device->port_num };

	if (!conn->device->roce)
		ah.dlid = conn->peer.lid;
	if (!conn->needs_grh)
		return ah;
	/* RoCE has no LIDs: without this header there is no address. */
	ah.is_global = 1;
	ah.grh = (struct ibv_global_route){
		.dgid = conn->peer.gid,
		.sgid_index = conn->gid_index,
		.hop_limit = 64,
	};
	return ah;
}

int qp_to_rtr(struct conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = address_vector(conn),
		/* A packet must fit the port with the smaller MTU. */
		.path_mtu = conn->mine.mtu < conn->peer.mtu ? conn->mine.mtu :
							      conn->peer.mtu,
		.dest_qp_num = conn->peer.qpn,
		.rq_psn = conn->peer.psn,
		.max_dest_rd_atomic = conn->device->reads_in,
		/* How long the peer waits if it finds no receive: 0.64 ms. */
		.min_rnr_timer = 12,
	};

	network_ask(conn->network, &attr);
	if (change(conn, &attr,
		   IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			   IBV_QP_MIN_RNR_TIMER,
		   "INIT to RTR"))
		return -1;
	log_line("INIT -> RTR: dest_qp_num=0x%06" PRIx32 ", rq_psn=0x%06" PRIx32
		 ", path_mtu=%d, sgid_index=%d",
		 attr.dest_qp_num, attr.rq_psn, params_mtu_bytes(attr.path_mtu),
		 conn->gid_index);
	return 0;
}

int qp_to_rts(struct conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = conn->mine.psn,
		.timeout = TIMEOUT,
		.retry_cnt = RETRY_CNT,
		/* Each side posts its receives first: one is never missing. */
		.rnr_retry = 0,
		.max_rd_atomic = conn->device->reads_out,
	};

	network_ask(conn->network, &attr);
	if (change(conn, &attr,
		   IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
		   "RTR to RTS"))
		return -1;
	log_line("RTR -> RTS: sq_psn=0x%06" PRIx32
		 ", timeout=%d, retry_cnt=%d, rnr_retry=%d",
		 attr.sq_psn, attr.timeout, attr.retry_cnt, attr.rnr_retry);
	return 0;
}
