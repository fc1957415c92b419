/*
 * talk.c - what a client says, and what is said and written to it
 */
#include "talk.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "log.h"
#include "pattern.h"

/* ---- What is sent to a client ---- */

static int post(struct talk *talk, uint64_t wr_id, enum ibv_wr_opcode opcode,
		struct ibv_sge sge, int flags)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		/* Without this, a request that succeeds has no completion. */
		.send_flags = IBV_SEND_SIGNALED | flags,
		/* Only a write looks at it. */
		.wr.rdma = {
			.remote_addr = talk->peer.addr,
			.rkey = talk->peer.rkey,
		},
	};
	int err = ibv_post_send(talk->id->qp, &wr, &bad);

	if (err)
		return explain_call("ibv_post_send", err);
	talk->pending++;
	return 0;
}

/* The device takes so few bytes at once: they need no memory until it is done. */
static int send_msg(struct talk *talk, enum work work, const struct msg *msg)
{
	struct ibv_sge sge = { .addr = (uintptr_t)msg, .length = sizeof(*msg) };

	return post(talk, work, IBV_WR_SEND, sge, IBV_SEND_INLINE);
}

/* Lends the client memory until the transfer is finished, and says where it is. */
static int send_mr(struct talk *talk)
{
	struct shared *shared = talk->shared;
	struct region *exposed = &talk->exposed;
	struct msg msg;

	if (region_open(exposed, &shared->all, shared->local.size,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))
		return -1;
	msg = msg_make(MSG_MR, MODE_WRITE, (uintptr_t)exposed->buf,
		       exposed->mr->rkey, exposed->size);
	return send_msg(talk, WORK_MR, &msg);
}

/* Both sides know both modes and lengths, so both report a difference. */
static int check_peer(const struct talk *talk)
{
	if (talk->peer_mode != MODE_WRITE)
		return log_fail(
			"this side runs write and the peer read; start both with the same word [docs/troubleshooting.md#refused]");
	if (talk->peer.length != talk->exposed.size)
		return log_fail(
			"this side has %zu bytes of memory and the peer %u; start both with the same -b [docs/troubleshooting.md#refused]",
			talk->exposed.size, talk->peer.length);
	return 0;
}

static int start_rdma(struct talk *talk)
{
	const struct region *local = &talk->shared->local;
	struct ibv_sge sge = {
		.addr = (uintptr_t)local->buf,
		.length = local->size,
		.lkey = local->mr->lkey,
	};

	if (check_peer(talk))
		return -1;
	log_line("received MSG_MR. writing message to remote memory...");
	log_line("[DEBUG] About to post RDMA WRITE");
	log_line("[DEBUG] peer_mr.addr=0x%" PRIx64 ", peer_mr.rkey=0x%" PRIx32,
		 talk->peer.addr, talk->peer.rkey);
	log_line("[DEBUG] local_region=%p, lkey=0x%" PRIx32, local->buf,
		 local->mr->lkey);
	return post(talk, WORK_RDMA, IBV_WR_RDMA_WRITE, sge, 0);
}

/* Part of what the receive has, for which it has one user more. */
static int post_of(struct talk *talk, struct receive *receive, enum work work,
		   const void *bytes, uint32_t length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)bytes,
		.length = length,
		.lkey = receive->mr->lkey,
	};

	if (post(talk, (uintptr_t)receive + work,
		 work == WORK_WRITE ? IBV_WR_RDMA_WRITE : IBV_WR_SEND, sge, 0))
		return -1;
	receive->users++;
	return 0;
}

/*
 * The answer, and what the client wants written, come from the memory of the
 * receive that brought the request. So everything that is posted for a client
 * is charged to a receive, and the CQ need not grow with the clients: it has
 * room for two completions of each receive.
 */
static int answer(struct talk *talk, struct receive *receive)
{
	struct request *came = &receive->came;
	uint32_t length = be32toh(came->msg.length);
	bool writes = came->msg.mode == MODE_WRITE;

	talk->count++;
	if (writes && length > talk->peer.length)
		return log_fail(
			"the client wants %u bytes written to its memory, which has %u",
			length, talk->peer.length);
	/* In one queue pair, the client has the write before the answer. */
	if (writes && post_of(talk, receive, WORK_WRITE, came->data, length))
		return -1;
	/* It takes the place of the request. */
	came->msg = msg_make(MSG_ANSWER, 0, msg_checksum(came->data, length), 0,
			     length);
	if (post_of(talk, receive, WORK_ANSWER, &came->msg, sizeof(came->msg)))
		return -1;
	talk->under_way++;
	return 0;
}

/* ---- What a client has sent ---- */

/* Both are done with the other's memory: looks at what the client wrote. */
static int finish(struct talk *talk)
{
	const struct region *exposed = &talk->exposed;
	int ret;

	log_line("[LOG] WRITE: Both DONE, waiting for requests");
	log_text("remote buffer: ", exposed->buf,
		 strnlen(exposed->buf, exposed->size));
	ret = pattern_check(exposed->buf, exposed->size);
	region_close(&talk->exposed);
	return ret;
}

/* The machine of 02_write_read takes the next step. */
static int on_event(struct talk *talk, enum event event)
{
	const struct msg done = msg_make(MSG_DONE, 0, 0, 0, 0);

	switch (state_step(&talk->states, event)) {
	case ACT_NOTHING:
		return 0;
	case ACT_SEND_MR:
		return send_mr(talk);
	case ACT_START_RDMA:
		return start_rdma(talk);
	case ACT_SEND_DONE:
		return send_msg(talk, WORK_DONE, &done);
	case ACT_FINISH:
		return finish(talk);
	default:
		return -1;
	}
}

static int on_mr(struct talk *talk, const struct msg *msg)
{
	/* A second one is an error, and must not replace the first. */
	if (talk->states.recv == RS_INIT) {
		talk->peer_mode = msg->mode;
		talk->peer.addr = be64toh(msg->addr);
		talk->peer.rkey = be32toh(msg->rkey);
		talk->peer.length = be32toh(msg->length);
	}
	return on_event(talk, EV_MR_RECEIVED);
}

static int on_request(struct talk *talk, struct receive *receive)
{
	const struct states *states = &talk->states;

	/* It may have our MSG_DONE, and ask, before that is acknowledged. */
	if (states->send < SS_RDMA_SENT || states->recv < RS_DONE_RECV)
		return log_fail(
			"protocol error: a message of type %d in the middle of a transfer",
			MSG_REQUEST);
	if (talk->under_way < TALK_WINDOW)
		return answer(talk, receive);
	/*
	 * All seven answers may be there, and only their acknowledgements lost: then
	 * the client may ask seven times more.
	 */
	if (talk->waits == TALK_WINDOW)
		return log_fail(
			"%d requests, of which no answer was taken; at most %d may be without one",
			2 * TALK_WINDOW + 1, TALK_WINDOW);
	receive->users++;
	talk->waiting[talk->waits++] = receive;
	return 0;
}

static int on_message(struct talk *talk, struct receive *receive)
{
	const struct msg *msg = &receive->came.msg;

	if (msg_check(msg, receive->length))
		return -1;
	switch (msg->type) {
	case MSG_MR:
		return on_mr(talk, msg);
	case MSG_DONE:
		return on_event(talk, EV_DONE_RECEIVED);
	case MSG_REQUEST:
		return on_request(talk, receive);
	default:
		return log_fail(
			"protocol error: a message of type %d, which is the server's",
			msg->type);
	}
}

/* ---- What is complete ---- */

static void log_completion(const struct talk *talk, const struct ibv_wc *wc)
{
	char opcode[32] = "";

	/* The opcode of a failed completion is not defined. */
	if (wc->status == IBV_WC_SUCCESS)
		snprintf(opcode, sizeof(opcode), "opcode=%d, ", wc->opcode);
	log_line("[on_completion] wr_id=0x%" PRIx64
		 ", status=%d (%s), %ssend_state=%d, recv_state=%d",
		 wc->wr_id, wc->status, ibv_wc_status_str(wc->status), opcode,
		 talk->states.send, talk->states.recv);
}

int talk_receive(struct talk *talk, const struct ibv_wc *wc)
{
	struct receive *receive = receive_of(wc->wr_id);

	/* Of requests and answers, nothing is told. */
	if (talk->states.recv < RS_DONE_RECV)
		log_completion(talk, wc);
	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion(work_name(wc->wr_id), wc);
	/* A write with immediate data takes a receive as well. */
	if (wc->opcode != IBV_WC_RECV)
		return log_fail(
			"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
			wc->opcode);
	receive->length = wc->byte_len;
	return on_message(talk, receive);
}

/* The client has taken something: answers what waits for that. */
static int go_on(struct talk *talk)
{
	struct receive *receive = talk->waiting[0];
	int ret;

	if (!talk->waits || talk->under_way == TALK_WINDOW)
		return 0;
	talk->waits--;
	memmove(talk->waiting, talk->waiting + 1,
		talk->waits * sizeof(*talk->waiting));
	ret = answer(talk, receive);
	receive_release(talk->shared, receive);
	return ret;
}

int talk_send(struct talk *talk, const struct ibv_wc *wc)
{
	enum work work = wc->wr_id & WORK_MASK;

	talk->under_way -= work == WORK_ANSWER;
	if (work <= WORK_DONE)
		log_completion(talk, wc);
	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion(work_name(wc->wr_id), wc);
	if (work > WORK_DONE)
		return go_on(talk);
	log_line("send completed successfully.");
	/* Both are in the order in which they happen. */
	return on_event(talk, EV_MR_SENT + work);
}

bool talk_is_greeted(const struct talk *talk)
{
	return talk->states.send == SS_DONE_SENT &&
	       talk->states.recv == RS_DONE_RECV;
}

void talk_close(struct talk *talk)
{
	while (talk->waits)
		receive_release(talk->shared, talk->waiting[--talk->waits]);
	region_close(&talk->exposed);
}
