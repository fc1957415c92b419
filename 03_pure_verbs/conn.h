/*
 * conn.h - a connection: what rdma.c and verbs.c both know of it
 */
#ifndef CONN_H
#define CONN_H

#include <stdbool.h>

#include <infiniband/verbs.h>

#include "device.h"
#include "oob.h"
#include "params.h"
#include "wait.h"

/* No machine has more active ports than this. */
#define CONN_DEVICES 16

/* A connection to one peer, or what a server listens on. */
struct conn {
	struct patience patience; /* set these two, and zero the rest */
	const struct network *network; /* borrowed */
	struct oob oob; /* where the two sides talk before, and say goodbye */
	struct device devices[CONN_DEVICES]; /* a listener's; a client has one */
	const struct device *device; /* the one in use; maybe a listener's */
	int gid_index; /* of our own GID in the port's table */
	bool needs_grh; /* the way to the peer needs a global route header */
	struct params mine; /* what the peer must know about us */
	struct params peer; /* what we know about the peer */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp; /* says that the CQ has completions */
	struct ibv_cq *cq; /* send and receive completions */
	struct ibv_qp *qp;
	unsigned int pending; /* posted requests that have yet to complete */
	bool armed; /* the CQ tells comp of its next completion */
	bool peer_done; /* the peer has said goodbye */
	bool peer_left; /* or is gone without a goodbye */
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
