/*
 * reply.c - from a request to its answer
 *
 * The answer, and what the client wants written, come from the memory of the
 * receive that brought the request. So everything that is posted for a client
 * is charged to a receive, and the CQ need not grow with the clients: it has
 * room for two completions of each receive.
 */
#include "reply.h"

#include <string.h>

#include "checksum.h"
#include "log.h"

/* Sends bytes of the receive, or writes them: it has one user more. */
static int post(struct guest *guest, struct receive *receive, enum work work,
		const char *bytes, uint32_t length)
{
	const struct remote *peer = &guest->transfer.peer;
	struct ibv_sge sge = {
		.addr = (uintptr_t)bytes,
		.length = length,
		.lkey = receive->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)receive + work,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = work == WORK_WRITE ? IBV_WR_RDMA_WRITE : IBV_WR_SEND,
		/* Only a write looks at it. */
		.wr.rdma = { .remote_addr = peer->addr, .rkey = peer->rkey },
	};

	if (work == WORK_WRITE && length > peer->length)
		return log_fail(
			"the client wants %u bytes written to its memory, which has %u",
			length, peer->length);
	if (data_post(&guest->data, &wr))
		return -1;
	receive->users++;
	return 0;
}

static int answer(struct guests *guests, struct guest *guest,
		  struct receive *receive)
{
	struct msg msg, answer = { .type = MSG_ANSWER };
	const char *content = receive->bytes + MSG_SIZE;

	if (msg_decode(&msg, receive->bytes, receive->length))
		return -1;
	if (msg.type != MSG_REQUEST)
		return log_fail(
			"protocol error: a message of type %d where a request was expected",
			msg.type);
	guest->count++;
	/* In one queue pair, the client has the write before the answer. */
	if (msg.mode == MODE_WRITE &&
	    post(guest, receive, WORK_WRITE, content, msg.mem.length))
		return -1;
	/* It takes the place of the request. */
	answer.mem.length = msg.mem.length;
	answer.checksum = checksum(content, msg.mem.length);
	msg_encode(&answer, receive->bytes);
	if (post(guest, receive, WORK_ANSWER, receive->bytes, MSG_SIZE))
		return -1;
	/* From the first one on, the client has -t to take it. */
	if (!guest->under_way++ && guest->state == GUEST_ASKS)
		guests_settle(guests, guest);
	return 0;
}

int reply_request(struct guests *guests, struct guest *guest,
		  struct receive *receive)
{
	if (guest->under_way < GUESTS_WINDOW)
		return answer(guests, guest, receive);
	/*
	 * All seven answers may be there, and only their acknowledgements lost: then
	 * the client may ask seven times more.
	 */
	if (guest->waits == GUESTS_WINDOW)
		return log_fail(
			"%d requests, of which no answer was taken; at most %d may be without one",
			2 * GUESTS_WINDOW + 1, GUESTS_WINDOW);
	receive->users++;
	guest->waiting[guest->waits++] = receive;
	return 0;
}

int reply_go_on(struct guests *guests, struct guest *guest)
{
	struct receive *receive;
	int ret;

	if (guest->state == GUEST_TAKES)
		guests_settle(guests, guest);
	if (!guest->waits || guest->under_way == GUESTS_WINDOW)
		return 0;
	receive = guest->waiting[0];
	guest->waits--;
	memmove(guest->waiting, guest->waiting + 1,
		guest->waits * sizeof(*guest->waiting));
	ret = answer(guests, guest, receive);
	receives_release(&guest->hub->receives, receive);
	return ret;
}
