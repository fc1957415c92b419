/*
 * echo.c - SENDs in a benchmark, with credits in the answers
 */
#include "echo.h"

#include <endian.h>

#include "log.h"
#include "log_wc.h"
#include "request.h"
#include "stats.h"

/* A receive, of nothing or of a message. */
static int post_receive(struct data *data, struct ibv_sge *sge)
{
	struct requests requests = { .conn = data->conn };

	return request_receive(&requests, 0, sge, sge ? 1 : 0);
}

/* It is signalled only with immediate data, imm: it asks, or answers. */
static int post_send(struct data *data, struct ibv_sge *sge, uint32_t imm)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = imm ? 1 : 0,
		.sg_list = sge,
		.num_sge = sge ? 1 : 0,
		.opcode = imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
		.send_flags = imm ? IBV_SEND_SIGNALED : 0,
		.imm_data = htobe32(imm),
	};
	int err = ibv_post_send(data->conn->qp, &wr, &bad);

	if (err)
		return log_fail_errno(
			"ibv_post_send", err,
			"is -q more than the device allows [docs/troubleshooting.md#post]");
	data->conn->pending += imm ? 1 : 0;
	return 0;
}

/* The peer did not wait for the end. */
static int peer_left(void)
{
	return log_fail(
		"the peer left in a benchmark [docs/troubleshooting.md#left]");
}

/* Takes a completion: 1 with the immediate data of a message, 0, or -1. */
static int take(struct data *data, uint32_t *imm)
{
	struct ibv_wc wc;

	if (data_next(data, &wc))
		return -1;
	if (data->conn->peer_left)
		return 0;
	if (wc.status != IBV_WC_SUCCESS)
		return log_fail_wc("SEND of a benchmark", &wc);
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
static int await_answer(struct data *data, struct credits *credits)
{
	uint32_t more;
	int n;

	do {
		n = take(data, &more);
	} while (n == 0 && !data->conn->peer_left);
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

int echo_send(struct data *data, struct credits *credits, unsigned int depth,
	      unsigned int count, uint64_t *samples)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data->local.buf,
		.length = data->local.size,
		.lkey = data->local.mr->lkey,
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

			if (asks && (post_receive(data, NULL) || !++due))
				return -1;
			if (post_send(data, &sge, asks))
				return -1;
			credits->may -= credits->all ? 1 : 0;
			continue;
		}
		if (await_answer(data, credits))
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

static struct ibv_sge place(const struct data *data, uint32_t length)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)data->exposed.buf,
		.length = length,
		.lkey = data->exposed.mr->lkey,
	};
}

int echo_post(struct data *data, uint32_t length, unsigned int depth)
{
	struct ibv_sge sge = place(data, length);

	while (depth--)
		if (post_receive(data, &sge))
			return -1;
	return 0;
}

int echo_serve(struct data *data, uint32_t length, unsigned int depth)
{
	struct ibv_sge sge = place(data, length);
	uint32_t asked = 0, owed = depth - 1;
	int n;

	for (;;) {
		n = take(data, &asked);
		/* The client's last word is one that asks. */
		if (n == 0 && data->conn->peer_left)
			return asked ? 0 : peer_left();
		if (n < 0)
			return -1;
		if (n == 0)
			continue;
		if (post_receive(data, &sge))
			return -1;
		owed++;
		if (asked && post_send(data, NULL, owed))
			return -1;
		owed = asked ? 0 : owed;
	}
}
