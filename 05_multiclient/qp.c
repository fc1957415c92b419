/*
 * qp.c - the states of a queue pair, one function for each transition
 */
#include "qp.h"

#include <errno.h>
#include <inttypes.h>

#include "log.h"

/*
 * After this long without an acknowledgement, a packet is sent again: 4.096 us
 * times 2 to this power, here 67 ms. 0 would mean never. One message at a time is
 * on its way: we allow 2 ms for the network's round trip (an assumption), 11 ms
 * for 128 KiB at 100 Mb/s, and the rest for the peer's processor. Chapter 07, with
 * full queues, waits longer.
 */
#define TIMEOUT 14

/* How many times it is sent again. 7 means "for ever" on rxe, so we take 6. */
#define RETRY_CNT 6

/*
 * How many times to try again when the peer has no receive posted. Each side
 * posts its receives before the other can send, so a missing one is an error at
 * once.
 */
#define RNR_RETRY 0

/* How long a peer waits if its message finds no receive: 0.64 ms. */
#define MIN_RNR_TIMER 12

/* ibv_modify_qp() returns the errno; it does not set it. */
static int modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  const char *what)
{
	int err = ibv_modify_qp(qp, attr, mask | IBV_QP_STATE);

	if (err)
		return log_fail_errno(
			"ibv_modify_qp", err,
			"%s: is each attribute in the mask, was the state before the right one, are the GIDs of both ends (-g) of one network [docs/troubleshooting.md#rtr]",
			what);
	return 0;
}

/* Asks the device for the state that it is in now. */
static int confirm(struct ibv_qp *qp, enum ibv_qp_state state, int mask,
		   struct ibv_qp_attr *attr)
{
	struct ibv_qp_init_attr init;
	int err = ibv_query_qp(qp, attr, mask | IBV_QP_STATE, &init);

	if (err)
		return log_fail_errno("ibv_query_qp", err,
				      "see `rdma resource show qp`");
	if (attr->qp_state != state)
		return log_fail(
			"the queue pair is in state %d instead of %d; see `rdma resource show qp`",
			attr->qp_state, state);
	return 0;
}

int qp_to_init(struct ibv_qp *qp, const struct device *device,
	       unsigned int access)
{
	struct ibv_qp_attr now, attr = {
		.qp_state = IBV_QPS_INIT,
		/* The partition: index 0 is the default one in most subnets. */
		.pkey_index = 0,
		.port_num = device->port_num,
		.qp_access_flags = access,
	};

	network_ask(&device->network, &attr);
	if (modify(qp, &attr,
		   IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		   "RESET to INIT"))
		return -1;
	if (confirm(qp, IBV_QPS_INIT, IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, &now))
		return -1;
	log_line("RESET -> INIT: port_num=%d, qp_access_flags=0x%x",
		 now.port_num, access);
	return 0;
}

/*
 * The way to the peer: on RoCE by its GID, on InfiniBand by its LID, and by its
 * GID as well where the port says so. A subnet manager may want a service level
 * other than 0 for this path, but we do not ask it: see network_ask().
 */
static struct ibv_ah_attr address_vector(const struct device *device,
					 const struct source *source,
					 const struct params *peer)
{
	struct ibv_ah_attr ah = { .port_num = device->port_num };

	if (!device_is_roce(device)) {
		ah.dlid = peer->lid;
		if (!(source->port.flags & IBV_QPF_GRH_REQUIRED))
			return ah;
	}
	/* RoCE has no LIDs: without this header there is no address. */
	ah.is_global = 1;
	ah.grh = (struct ibv_global_route){
		.dgid = peer->gid,
		.sgid_index = source->gid_index,
		.hop_limit = 64,
	};
	return ah;
}

int qp_to_rtr(struct ibv_qp *qp, const struct device *device,
	      const struct source *source, const struct params *peer,
	      enum ibv_mtu mtu)
{
	struct ibv_qp_attr now, attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = address_vector(device, source, peer),
		.path_mtu = mtu,
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = device->reads_in,
		.min_rnr_timer = MIN_RNR_TIMER,
	};

	network_ask(&device->network, &attr);
	if (modify(qp, &attr,
		   IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			   IBV_QP_MIN_RNR_TIMER,
		   "INIT to RTR"))
		return -1;
	if (confirm(qp, IBV_QPS_RTR,
		    IBV_QP_RQ_PSN | IBV_QP_DEST_QPN | IBV_QP_PATH_MTU, &now))
		return -1;
	log_line("INIT -> RTR: dest_qp_num=0x%06" PRIx32 ", rq_psn=0x%06" PRIx32
		 ", path_mtu=%d, sgid_index=%d",
		 now.dest_qp_num, now.rq_psn, params_mtu_bytes(now.path_mtu),
		 source->gid_index);
	return 0;
}

int qp_to_rts(struct ibv_qp *qp, const struct device *device, uint32_t psn)
{
	struct ibv_qp_attr now, attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.timeout = TIMEOUT,
		.retry_cnt = RETRY_CNT,
		.rnr_retry = RNR_RETRY,
		.max_rd_atomic = device->reads_out,
	};

	network_ask(&device->network, &attr);
	if (modify(qp, &attr,
		   IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
		   "RTR to RTS"))
		return -1;
	if (confirm(qp, IBV_QPS_RTS,
		    IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			    IBV_QP_RNR_RETRY,
		    &now))
		return -1;
	log_line("RTR -> RTS: sq_psn=0x%06" PRIx32
		 ", timeout=%d, retry_cnt=%d, rnr_retry=%d",
		 now.sq_psn, now.timeout, now.retry_cnt, now.rnr_retry);
	return 0;
}

int qp_to_err(struct ibv_qp *qp)
{
	struct ibv_qp_attr now, attr = { .qp_state = IBV_QPS_ERR };

	/* In RESET nothing is posted, and RESET cannot go to ERR. */
	if (qp->state == IBV_QPS_RESET || qp->state == IBV_QPS_ERR)
		return 0;
	if (modify(qp, &attr, 0, "to ERR"))
		return -1;
	return confirm(qp, IBV_QPS_ERR, 0, &now);
}
