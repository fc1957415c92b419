/*
 * conn.h - a connection: what rdma.c, qp.c and their callers share
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
	/* Set these two, and zero the rest. */
	struct patience patience;
	const struct network *network; /* what options say; borrowed */
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
	bool peer_done; /* the peer has said goodbye */
	bool peer_left; /* or is gone without a goodbye */
	bool ending; /* all that is posted is being taken back */
};

#endif
