/*
 * request.c - the requests of a channel: how they are posted
 */
#include "request.h"

#include <endian.h>
#include <string.h>

#include "log.h"

struct ibv_sge request_piece(const struct region *region, const char *at,
			     uint32_t length)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)at,
		.length = length,
		.lkey = region->mr->lkey,
	};
}

int request_receive(struct requests *requests, unsigned int number,
		    struct ibv_sge *pieces, int count)
{
	struct ibv_recv_wr *bad, wr = {
		.wr_id = request_id(REQUEST_RECEIVE, 1, number),
		.sg_list = pieces,
		.num_sge = count,
	};
	int err = ibv_post_recv(requests->conn->qp, &wr, &bad);

	if (err)
		return log_fail_errno(
			"ibv_post_recv", err,
			"are more posted than max_recv_wr [docs/troubleshooting.md#post]");
	requests->conn->pending++;
	return 0;
}

/* Its completion stands for all since the last one that was signalled, too. */
static void signal_it(struct requests *requests, struct ibv_send_wr *wr)
{
	enum request of = request_of(wr->wr_id);

	wr->wr_id = request_id(of, requests->over,
			       of == REQUEST_READ ? request_number(wr->wr_id) :
						    requests->parts);
	wr->send_flags = IBV_SEND_SIGNALED;
	requests->over = requests->parts = 0;
}

int request_post(struct requests *requests)
{
	struct ibv_send_wr *bad = NULL, *wr = requests->wrs;
	int err;

	if (!requests->waiting)
		return 0;
	if (requests->over)
		signal_it(requests, &wr[requests->waiting - 1]);
	requests->waiting = 0;
	err = ibv_post_send(requests->conn->qp, wr, &bad);
	/* From bad on, nothing was posted: that will never report. */
	for (; wr != bad; wr = wr->next)
		requests->conn->pending += !!request_over(wr->wr_id);
	if (err)
		return log_fail_errno(
			"ibv_post_send", err,
			"are more posted than max_send_wr [docs/troubleshooting.md#post]");
	return 0;
}

/* Puts wr at the end of the chain; its pieces are the caller's, and are copied. */
static int add(struct requests *requests, const struct ibv_send_wr *wr)
{
	unsigned int at = requests->waiting++;
	struct ibv_send_wr *mine = &requests->wrs[at];

	*mine = *wr;
	mine->sg_list = requests->pieces[at];
	memcpy(mine->sg_list, wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
	if (at)
		mine[-1].next = mine;
	requests->sends++;
	requests->over++;
	if (request_of(wr->wr_id) == REQUEST_PART)
		requests->parts++;
	if (request_of(wr->wr_id) == REQUEST_READ)
		signal_it(requests, mine);
	return at + 1 < requests->chain ? 0 : request_post(requests);
}

unsigned int request_done(struct requests *requests, uint64_t wr_id)
{
	requests->sent += request_over(wr_id);
	return request_of(wr_id) == REQUEST_READ ? 1 : request_number(wr_id);
}

int request_send(struct requests *requests, enum request request,
		 struct ibv_sge *pieces, int count)
{
	struct ibv_send_wr wr = {
		.wr_id = request_id(request, 0, 0),
		.sg_list = pieces,
		.num_sge = count,
		.opcode = IBV_WR_SEND,
	};

	return add(requests, &wr);
}

int request_write(struct requests *requests, struct ibv_sge *piece,
		  const struct remote *remote)
{
	struct ibv_send_wr wr = {
		.wr_id = request_id(REQUEST_PART, 0, 0),
		.sg_list = piece,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htobe32(piece->length),
		.wr.rdma = {
			.remote_addr = remote->addr,
			.rkey = remote->rkey,
		},
	};

	return add(requests, &wr);
}

int request_read(struct requests *requests, struct ibv_sge *piece,
		 const struct remote *remote)
{
	struct ibv_send_wr wr = {
		/* The length, to be known when it is complete. */
		.wr_id = request_id(REQUEST_READ, 0, piece->length),
		.sg_list = piece,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = {
			.remote_addr = remote->addr,
			.rkey = remote->rkey,
		},
	};

	return add(requests, &wr);
}

const char *request_name(uint64_t wr_id)
{
	static const char *const names[] = {
		[REQUEST_RECEIVE] = "receive",
		[REQUEST_HEAD] = "send of a message",
		[REQUEST_PART] = "send or write of a part",
		[REQUEST_READ] = "read of a part",
	};
	unsigned int of = request_of(wr_id);

	return of >= REQUEST_RECEIVE && of <= REQUEST_READ ? names[of] :
							     "request";
}
