/*
 * chain.h - requests and completions, many at a time
 *
 * Requests of each queue gather in a list, which one call hands to the device when it is
 * as long as it may be, or when the program would otherwise sleep. One call takes as many
 * completions as there are. Each request has one, which conn_end() relies on.
 */
#ifndef CHAIN_H
#define CHAIN_H

#include "rdma.h"

/* The longest chain, and the most completions that are taken in one call. */
#define CHAIN_MAX 16
#define BATCH_MAX 32

/* Set conn and most, and zero the rest. */
struct chain {
	struct conn *conn; /* borrowed */
	unsigned int most; /* how many gather, at most: 1 to CHAIN_MAX */
	uint64_t sends, sent; /* of the send queue: all; complete */
	/* Those that wait to be posted: of the send queue, and receives. */
	struct ibv_send_wr send_wrs[CHAIN_MAX];
	struct ibv_sge send_pieces[CHAIN_MAX];
	unsigned int sends_waiting;
	struct ibv_recv_wr recv_wrs[CHAIN_MAX];
	struct ibv_sge recv_pieces[CHAIN_MAX];
	unsigned int receives_waiting;
	/* Completions that were taken, and not yet dealt with. */
	struct ibv_wc wcs[BATCH_MAX];
	unsigned int wcs_count, wcs_taken;
};

/* length bytes of a region, from at on. */
struct ibv_sge chain_piece(const struct region *region, const char *at,
			   uint32_t length);

/*
 * Puts wr, or a receive, for one piece of memory at the end of its chain, and posts
 * that if it is full. All here return 0, or -1 after reporting why.
 */
int chain_send(struct chain *chain, struct ibv_send_wr wr,
	       struct ibv_sge piece);
int chain_receive(struct chain *chain, uint64_t wr_id, struct ibv_sge piece);

/* Posts what has gathered. */
int chain_post_sends(struct chain *chain);
int chain_post_receives(struct chain *chain);

/*
 * Takes the next completion without waiting, which may be a failure: look at its status.
 * Returns 1, 0 if there is none, or -1.
 */
int chain_poll(struct chain *chain, struct ibv_wc *wc);

#endif
