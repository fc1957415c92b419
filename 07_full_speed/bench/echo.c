/*
 * echo.c - SENDs in a benchmark, with credits in the answers
 */
#include "echo.h"

#include <endian.h>

#include "explain.h"
#include "log.h"
#include "stats.h"

/* A receive, of nothing or of a message. */
static int post_receive(struct bench *bench, struct ibv_sge *sge)
{
	struct ibv_recv_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = sge ? 1 : 0,
	};
	int err = ibv_post_recv(bench->conn->id->qp, &wr, &bad);

	if (err)
		return explain_call("ibv_post_recv", err);
	bench->conn->pending++;
	return 0;
}

/* It is signalled only with immediate data, imm: it asks, or answers. */
static int post_send(struct bench *bench, struct ibv_sge *sge, uint32_t imm)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = imm ? 1 : 0,
		.sg_list = sge,
		.num_sge = sge ? 1 : 0,
		.opcode = imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
		.send_flags = imm ? IBV_SEND_SIGNALED : 0,
		.imm_data = htobe32(imm),
	};
	int err = ibv_post_send(bench->conn->id->qp, &wr, &bad);

	if (err)
		return log_fail_errno(
			"ibv_post_send", err,
			"is -q more than the device allows [docs/troubleshooting.md#post]");
	bench->conn->pending += imm ? 1 : 0;
	return 0;
}

/* The peer did not wait for the end. */
static int peer_left(void)
{
	return log_fail(
		"the peer left in a benchmark [docs/troubleshooting.md#left]");
}

/* Takes a completion: 1 with the immediate data of a message, 0, or -1. */
static int take(struct bench *bench, uint32_t *imm)
{
	struct ibv_wc wc;

	if (conn_wait(bench->conn, &wc))
		return -1;
	/* One that is not signalled was not counted: it reports since it failed. */
	bench->conn->pending += !wc.wr_id;
	if (!bench->conn->established)
		return 0;
	if (wc.status != IBV_WC_SUCCESS)
		return explain_completion("SEND of a benchmark", &wc);
	if (wc.opcode == IBV_WC_SEND)
		return 0;
	/* A write with immediate data takes a receive, too, and brings nothing. */
	if (wc.opcode != IBV_WC_RECV)
		return log_fail(
			"protocol error: a completion with opcode %d, where SENDs were to come",
			wc.opcode);
	*imm = wc.wc_flags & IBV_WC_WITH_IMM ? be32toh(wc.imm_data) : 0;
	return 1;
}

/* Waits for an answer, and checks how many credits it can return. */
static int await_answer(struct bench *bench, struct credits *credits)
{
	uint32_t more;
	int n;

	do {
		n = take(bench, &more);
	} while (n == 0 && bench->conn->established);
	if (n <= 0)
		return n < 0 ? -1 : peer_left();
	if (!credits->all)
		credits->all = more;
	if (!more || more > credits->all - credits->may)
		return log_fail("protocol error: %u credits, of %u", more,
				credits->all);
	credits->may += more;
	return 0;
}

int echo_send(struct bench *bench, struct credits *credits, unsigned int depth,
	      unsigned int count, uint64_t *samples)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)bench->memory.buf,
		.length = bench->memory.size,
		.lkey = bench->memory.mr->lkey,
	};
	unsigned int chain = depth / 4 ? depth / 4 : 1, due = 0;
	uint64_t before = stats_now(), now;

	for (unsigned int sent = 0; sent < count || due;) {
		unsigned int away = credits->all - credits->may;

		/* The first one asks how many there are: one, at least. */
		if (sent < count && away < depth &&
		    (credits->all ? credits->may : !due)) {
			/* An answer for a quarter, as in a chain of writes. */
			bool asks = ++sent % chain == 0 || sent == count ||
				    credits->may <= 1;

			if (asks && (post_receive(bench, NULL) || !++due))
				return -1;
			if (post_send(bench, &sge, asks))
				return -1;
			credits->may -= credits->all ? 1 : 0;
			continue;
		}
		if (await_answer(bench, credits))
			return -1;
		due--;
		if (samples) {
			now = stats_now();
			*samples++ = now - before;
			before = now;
		}
	}
	return 0;
}

static struct ibv_sge place(const struct bench *bench, uint32_t length)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)bench->memory.buf,
		.length = length,
		.lkey = bench->memory.mr->lkey,
	};
}

int echo_post(struct bench *bench, uint32_t length)
{
	struct ibv_sge sge = place(bench, length);

	for (unsigned int i = 0; i < bench->depth; i++)
		if (post_receive(bench, &sge))
			return -1;
	return 0;
}

int echo_serve(struct bench *bench, uint32_t length)
{
	struct ibv_sge sge = place(bench, length);
	uint32_t asked = 0, owed = bench->depth - 1;
	int n;

	for (;;) {
		n = take(bench, &asked);
		/* The client's last word is one that asks. */
		if (n == 0 && !bench->conn->established)
			return asked ? 0 : peer_left();
		if (n < 0)
			return -1;
		if (n == 0)
			continue;
		if (post_receive(bench, &sge))
			return -1;
		owed++;
		if (asked && post_send(bench, NULL, owed))
			return -1;
		owed = asked ? 0 : owed;
	}
}
