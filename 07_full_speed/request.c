/*
 * request.c - the requests of a channel: how each is posted, and told from others
 */
#include "request.h"

#include <endian.h>

#include "log.h"

/* So many bits of a wr_id say whose it is, and the others are the number. */
#define REQUEST_BITS 3

/* Other requests have the address of a message there: see data_message(). */
_Static_assert(MSG_SIZE % (1 << REQUEST_BITS) == 0, "it looks like ours");

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
		.wr_id = (uint64_t)number << REQUEST_BITS | REQUEST_RECEIVE,
		.sg_list = pieces,
		.num_sge = count,
	};
	int err = ibv_post_recv(requests->conn->qp, &wr, &bad);

	if (err)
		return log_fail_errno("ibv_post_recv", err,
				      "are more posted than max_recv_wr"
				      " [docs/troubleshooting.md#post]");
	requests->conn->pending++;
	return 0;
}

static int post(struct requests *requests, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int err;

	wr->send_flags = IBV_SEND_SIGNALED;
	err = ibv_post_send(requests->conn->qp, wr, &bad);
	if (err)
		return log_fail_errno("ibv_post_send", err,
				      "are more posted than max_send_wr"
				      " [docs/troubleshooting.md#post]");
	requests->sends++;
	requests->conn->pending++;
	return 0;
}

int request_send(struct requests *requests, enum request request,
		 struct ibv_sge *pieces, int count)
{
	struct ibv_send_wr wr = {
		.wr_id = request,
		.sg_list = pieces,
		.num_sge = count,
		.opcode = IBV_WR_SEND,
	};

	return post(requests, &wr);
}

int request_write(struct requests *requests, struct ibv_sge *piece,
		  const struct remote *remote)
{
	struct ibv_send_wr wr = {
		.wr_id = REQUEST_PART,
		.sg_list = piece,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htobe32(piece->length),
		.wr.rdma = {
			.remote_addr = remote->addr,
			.rkey = remote->rkey,
		},
	};

	return post(requests, &wr);
}

int request_read(struct requests *requests, struct ibv_sge *piece,
		 const struct remote *remote)
{
	struct ibv_send_wr wr = {
		/* The length, to be known when it is complete. */
		.wr_id = (uint64_t)piece->length << REQUEST_BITS | REQUEST_READ,
		.sg_list = piece,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = {
			.remote_addr = remote->addr,
			.rkey = remote->rkey,
		},
	};

	return post(requests, &wr);
}

enum request request_of(uint64_t wr_id)
{
	return wr_id & ((1 << REQUEST_BITS) - 1);
}

uint64_t request_number(uint64_t wr_id)
{
	return wr_id >> REQUEST_BITS;
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
