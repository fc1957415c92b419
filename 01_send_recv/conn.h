/*
 * conn.h - a connection: what rdma.c and verbs.c both know of it
 */
#ifndef CONN_H
#define CONN_H

#include <stdbool.h>

#include <rdma/rdma_cma.h>

#include "wait.h"

/* A connection to one peer, or what a server listens on. */
struct conn {
	struct patience patience; /* set this, and zero the rest */
	struct rdma_event_channel *events; /* what the CM reports of it */
	struct rdma_cm_id *id;
	struct ibv_qp *qp; /* the id's */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp; /* says that the CQ has completions */
	struct ibv_cq *cq; /* send and receive completions */
	unsigned int pending; /* posted requests that have yet to complete */
	bool armed; /* the CQ tells comp of its next completion */
	bool established; /* and not yet disconnected, by either side */
	bool ending; /* all that is posted is being taken back */
	const char *awaits; /* what conn_wait() waits for; NULL: any */
};

/*
 * For conn_wait(): the descriptor that is readable when there is news of the peer, or
 * -1; and takes the news, if there is any. If the peer leaves, all that is still posted
 * comes back flushed.
 */
int conn_fd(const struct conn *conn);
int conn_news(struct conn *conn);

#endif
