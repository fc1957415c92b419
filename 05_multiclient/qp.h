/*
 * qp.h - the states of a queue pair, one function for each transition
 *
 *     RESET -> INIT -> RTR (ready to receive) -> RTS (ready to send)
 *                                    any state but RESET -> ERR
 *
 * Each sets the attributes, asks ibv_query_qp() whether the queue pair is in
 * the new state, and prints the values that the device then has. Which
 * attributes each needs: ibv_modify_qp(3).
 */
#ifndef QP_H
#define QP_H

#include "device.h"
#include "params.h"

/*
 * RESET to INIT: binds the queue pair to a port. access: the most that the peer
 * may do (IBV_ACCESS_…); each memory region must allow it, too. From now on,
 * receives can be posted. Returns 0, or -1 after reporting why.
 */
int qp_to_init(struct ibv_qp *qp, const struct device *device,
	       unsigned int access);

/*
 * INIT to RTR: tells the queue pair where its peer is and which PSN will come
 * first from there. Receives must be posted by now. Returns 0 or -1.
 */
int qp_to_rtr(struct ibv_qp *qp, const struct device *device,
	      const struct source *source, const struct params *peer,
	      enum ibv_mtu mtu);

/*
 * RTR to RTS: tells it which PSN to send first and how long to be patient.
 * The peer must be in RTR before anything is sent. Returns 0 or -1.
 */
int qp_to_rts(struct ibv_qp *qp, const struct device *device, uint32_t psn);

/*
 * To ERR, unless it is there, or still in RESET: every posted request comes back,
 * with status 5 (flushed) if it was not complete. Returns 0 or -1.
 */
int qp_to_err(struct ibv_qp *qp);

#endif
