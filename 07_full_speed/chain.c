/*
 * chain.c - requests and completions, many at a time
 */
#include "stream.h"

#include "explain.h"

struct ibv_sge chain_piece(const struct region *region, const char *at,
			   uint32_t length)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)at,
		.length = length,
		.lkey = region->mr->lkey,
	};
}

int chain_post_sends(struct chain *chain)
{
	struct ibv_send_wr *bad = NULL, *wr = chain->send_wrs;
	int err;

	if (!chain->sends_waiting)
		return 0;
	wr[chain->sends_waiting - 1].next = NULL;
	chain->sends_waiting = 0;
	err = ibv_post_send(chain->conn->id->qp, wr, &bad);
	/* From bad on, nothing was posted: that will never report. */
	for (; wr != bad; wr = wr->next)
		chain->conn->pending++;
	return err ? explain_call("ibv_post_send", err) : 0;
}

int chain_post_receives(struct chain *chain)
{
	struct ibv_recv_wr *bad = NULL, *wr = chain->recv_wrs;
	int err;

	if (!chain->receives_waiting)
		return 0;
	wr[chain->receives_waiting - 1].next = NULL;
	chain->receives_waiting = 0;
	err = ibv_post_recv(chain->conn->id->qp, wr, &bad);
	for (; wr != bad; wr = wr->next)
		chain->conn->pending++;
	return err ? explain_call("ibv_post_recv", err) : 0;
}

int chain_send(struct chain *chain, struct ibv_send_wr wr, struct ibv_sge piece)
{
	unsigned int at = chain->sends_waiting++;

	chain->send_pieces[at] = piece;
	wr.sg_list = &chain->send_pieces[at];
	wr.num_sge = 1;
	/* Without this, a request that succeeds has no completion. */
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.next = &chain->send_wrs[at + 1];
	chain->send_wrs[at] = wr;
	chain->sends++;
	return at + 1 < chain->most ? 0 : chain_post_sends(chain);
}

int chain_receive(struct chain *chain, uint64_t wr_id, struct ibv_sge piece)
{
	unsigned int at = chain->receives_waiting++;

	chain->recv_pieces[at] = piece;
	chain->recv_wrs[at] = (struct ibv_recv_wr){
		.wr_id = wr_id,
		.next = &chain->recv_wrs[at + 1],
		.sg_list = &chain->recv_pieces[at],
		.num_sge = 1,
	};
	return at + 1 < chain->most ? 0 : chain_post_receives(chain);
}

int chain_poll(struct chain *chain, struct ibv_wc *wc)
{
	int n;

	if (chain->wcs_taken == chain->wcs_count) {
		n = ibv_poll_cq(chain->conn->cq, BATCH_MAX, chain->wcs);
		if (n < 0)
			return explain_call("ibv_poll_cq", 0);
		chain->conn->pending -= n;
		chain->wcs_count = n;
		chain->wcs_taken = 0;
	}
	if (chain->wcs_taken == chain->wcs_count)
		return 0;
	*wc = chain->wcs[chain->wcs_taken++];
	return 1;
}
