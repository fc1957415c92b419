/*
 * talk.c - what the two ends of a benchmark say to each other, apart from what is measured
 */
#include "talk.h"

#include "explain.h"
#include "log.h"

static char *message(const struct talk *talk, int slot)
{
	return (char *)talk->messages.buf + slot * HEAD_SIZE;
}

int talk_open(struct talk *talk)
{
	if (region_open(&talk->messages, talk->conn, SLOT_COUNT * HEAD_SIZE,
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	for (int slot = SLOT_RECV; slot < SLOT_COUNT; slot++)
		if (conn_post_recv(talk->conn, &talk->messages,
				   message(talk, slot), HEAD_SIZE))
			return -1;
	return 0;
}

void talk_close(struct talk *talk)
{
	region_close(&talk->messages);
}

int talk_send(struct talk *talk, enum slot slot, const struct head *head)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)message(talk, slot),
		.length = HEAD_SIZE,
		.lkey = talk->messages.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = sge.addr,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	head_encode(head, message(talk, slot));
	return conn_post(talk->conn, &wr);
}

/*
 * Whether a completion is for what was posted, and a success. A peer can also write
 * with immediate data, which uses up a receive but brings no message.
 */
static int check(const struct talk *talk, const struct ibv_wc *wc)
{
	bool sends = wc->wr_id < (uintptr_t)message(talk, SLOT_RECV);

	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion(
			sends ? "send of a message" : "receive", wc);
	if (wc->opcode == (sends ? IBV_WC_SEND : IBV_WC_RECV))
		return 0;
	return log_fail(
		"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
		wc->opcode);
}

/* The message that has come. */
static int decode(const struct ibv_wc *wc, enum head_type type,
		  struct head *head)
{
	if (head_decode(head, (const void *)(uintptr_t)wc->wr_id, wc->byte_len))
		return -1;
	if (head->type == type)
		return 0;
	return log_fail("protocol error: message type %d instead of %d",
			head->type, type);
}

int talk_take(struct talk *talk, const struct ibv_wc *wc, enum head_type type,
	      struct head *head, bool *sent, bool *received)
{
	if (check(talk, wc))
		return -1;
	if (wc->opcode & IBV_WC_RECV)
		*received = true;
	else
		*sent = true;
	return wc->opcode & IBV_WC_RECV ? decode(wc, type, head) : 0;
}

int talk_await(struct talk *talk, enum head_type type, struct head *head)
{
	bool sent = false, received = false;
	struct ibv_wc wc;

	while (!sent || !received)
		if (conn_wait(talk->conn, &wc) ||
		    talk_take(talk, &wc, type, head, &sent, &received))
			return -1;
	return 0;
}

int talk_first(struct talk *talk, struct head *head)
{
	struct ibv_wc wc;

	if (conn_wait(talk->conn, &wc) || check(talk, &wc) ||
	    decode(&wc, HEAD_HELLO, head))
		return -1;
	if (head->mode == MODE_BENCH && head->number > 0 &&
	    head->number <= MEMORY_MAX)
		return 0;
	return log_fail(
		"protocol error: the peer wants a %s of %llu bytes; a benchmark has 1 to %d",
		mode_name(head->mode), (unsigned long long)head->number,
		MEMORY_MAX);
}
