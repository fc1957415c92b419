/*
 * reply.c - from a request to its answer
 *
 * The answer is sent, and what the client wants written comes, from the memory of
 * the receive that brought the request. So nothing is posted for a client that
 * is not charged to a receive, and the CQ need not grow with the clients: it has
 * room for two completions of each receive.
 */
#include "reply.h"

#include <errno.h>

#include "checksum.h"
#include "log.h"

static int post(struct guest *guest, struct ibv_send_wr *wr, unsigned int count)
{
	struct ibv_send_wr *bad;
	int err = ibv_post_send(guest->conn.qp, wr, &bad);

	if (err)
		return log_fail_errno(
			"ibv_post_send", err,
			"are more posted than max_send_wr [docs/troubleshooting.md#post]");
	guest->conn.pending += count;
	return 0;
}

/* Posts the answer, and before it the write if the client wants one. */
static int post_answer(struct guest *guest, struct receive *receive,
		       const struct msg *request)
{
	uint64_t id = (uintptr_t)receive->bytes;
	struct ibv_sge data = {
		.addr = id + MSG_SIZE,
		.length = request->mem.length,
		.lkey = receive->mr->lkey,
	};
	struct ibv_sge answer = {
		.addr = (uintptr_t)receive->messages,
		.length = MSG_SIZE,
		.lkey = receive->mr->lkey,
	};
	struct ibv_send_wr send = {
		.wr_id = id + WORK_ANSWER,
		.sg_list = &answer,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr write = {
		.wr_id = id + WORK_WRITE,
		/* In one queue pair, the client has the write before this. */
		.next = &send,
		.sg_list = &data,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {
			.remote_addr = guest->transfer.peer.addr,
			.rkey = guest->transfer.peer.rkey,
		},
	};
	bool writes = request->mode == MODE_WRITE;

	receive->users += 1 + writes;
	guest->under_way++;
	return post(guest, writes ? &write : &send, 1 + writes);
}

/* Answers what is in receive. */
static int answer(struct guest *guest, struct receive *receive)
{
	const char *data = receive->bytes + MSG_SIZE;
	struct msg msg;

	if (msg_decode(&msg, receive->bytes, receive->length))
		return -1;
	if (msg.type != MSG_REQUEST)
		return log_fail(
			"protocol error: a message of type %d where a request was expected",
			msg.type);
	if (msg.mode == MODE_WRITE &&
	    msg.mem.length > guest->transfer.peer.length)
		return log_fail(
			"the client wants %u bytes written to its memory, which has %u",
			msg.mem.length, guest->transfer.peer.length);
	guest->count++;
	msg_encode(&(struct msg){ .type = MSG_ANSWER,
				  .mem.length = msg.mem.length,
				  .checksum = checksum(data, msg.mem.length) },
		   receive->messages);
	return post_answer(guest, receive, &msg);
}

int reply_request(struct guests *guests, struct guest *guest,
		  struct receive *receive)
{
	guests_heard(guests, guest);
	if (guest->state == GUEST_ASKS && guest->under_way < GUESTS_WINDOW)
		return answer(guest, receive);
	/* An acknowledgement may be late; a client that floods is not waited for. */
	if (guest->waiting == GUESTS_WINDOW)
		return log_fail(
			"%u requests without having taken an answer; at most %d are allowed",
			guest->under_way + guest->waiting + 1,
			2 * GUESTS_WINDOW);
	receive->users++;
	receive->next = NULL;
	if (guest->last)
		guest->last->next = receive;
	else
		guest->first = receive;
	guest->last = receive;
	guest->waiting++;
	return 0;
}

/* Takes the first of those that wait. */
static struct receive *take(struct guest *guest)
{
	struct receive *receive = guest->first;

	guest->first = receive->next;
	if (!guest->first)
		guest->last = NULL;
	guest->waiting--;
	return receive;
}

int reply_next(struct guests *guests, struct guest *guest)
{
	struct receive *receive;
	int ret;

	if (!guest->first || guest->under_way == GUESTS_WINDOW)
		return 0;
	receive = take(guest);
	ret = answer(guest, receive);
	return receives_release(&guests->hub->receives, receive) ? -1 : ret;
}

void reply_drop(struct guests *guests, struct guest *guest)
{
	while (guest->first)
		receives_release(&guests->hub->receives, take(guest));
}
