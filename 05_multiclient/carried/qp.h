/*
 * qp.h - a queue pair, and its states
 *
 *     RESET -> INIT -> RTR (ready to receive) -> RTS (ready to send)
 *                                    any state but RESET -> ERR
 *
 * There is a function for each transition. It sets the attributes, asks the
 * device whether the queue pair is in the new state, and prints the values that
 * it then has. Which attributes each needs: ibv_modify_qp(3).
 */
#ifndef QP_H
#define QP_H

struct conn;

/*
 * Finds out for conn->mine what addresses we have on the port of conn->device: the
 * GID that -g names; or on RoCE the one that is the IP address of our end of the
 * exchange, on InfiniBand the first. Returns 0, or -1 after reporting why not.
 */
int qp_find_source(struct conn *conn);

/*
 * RESET to INIT: binds the queue pair to a port. access: the most that the peer
 * may do (IBV_ACCESS_REMOTE_…); each memory region must allow it, too. From now
 * on, receives can be posted. Like all that follow, returns 0, or -1 after
 * reporting why.
 */
int qp_to_init(struct conn *conn, unsigned int access);

/*
 * INIT to RTR: tells the queue pair where conn->peer is and which PSN will come
 * first from there. Receives must be posted by now.
 */
int qp_to_rtr(struct conn *conn);

/*
 * RTR to RTS: tells it which PSN to send first and how long to be patient.
 * The peer must be in RTR before anything is sent.
 */
int qp_to_rts(struct conn *conn);

/*
 * To ERR: every posted request comes back, with status 5 (flushed) if it was not
 * complete. Legal from INIT on.
 */
int qp_to_err(struct conn *conn);

#endif
