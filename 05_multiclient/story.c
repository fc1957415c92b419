/*
 * story.c - what happens in a transfer, in words
 */
#include "story.h"

#include <inttypes.h>
#include <stdio.h>

#include "log.h"

static const char *const send_names[] = { "SS_INIT", "SS_RDMA_SENT",
					  "SS_DONE_SENT" };
static const char *const recv_names[] = { "RS_INIT", "RS_DONE_RECV" };
static const char *const event_names[] = {
	"the completion of our RDMA operation",
	"the completion of our MSG_DONE",
	"the peer's MSG_DONE",
};

const char *story_request(const struct data *data, uint64_t wr_id)
{
	if (wr_id == (uintptr_t)data_message(data, SLOT_SEND_DONE))
		return "send of MSG_DONE";
	if (wr_id == (uintptr_t)data->local.buf)
		return "RDMA operation";
	return "receive";
}

const char *story_awaited(const struct states *states)
{
	switch (states->send) {
	case SS_INIT:
		return event_names[EV_RDMA_DONE];
	case SS_RDMA_SENT:
		return event_names[EV_DONE_SENT];
	default:
		return "the peer's MSG_DONE (that ours was sent with success is no proof that it was delivered)";
	}
}

void story_start(const struct data *data, enum mode mode,
		 const struct remote *peer)
{
	bool write = mode == MODE_WRITE;

	log_line("memory regions exchanged. %s remote memory...",
		 write ? "writing message to" : "reading message from");
	log_line("[DEBUG] About to post RDMA %s", write ? "WRITE" : "READ");
	log_line("[DEBUG] peer_mr.addr=0x%" PRIx64 ", peer_mr.rkey=0x%" PRIx32,
		 peer->addr, peer->rkey);
	log_line("[DEBUG] local_region=%p, lkey=0x%" PRIx32,
		 (void *)data->local.buf, data->local.mr->lkey);
}

void story_completion(const struct ibv_wc *wc, const struct states *states)
{
	char opcode[32] = "";

	/* The opcode of a failed completion is not defined. */
	if (wc->status == IBV_WC_SUCCESS)
		snprintf(opcode, sizeof(opcode), "opcode=%d, ", wc->opcode);
	log_line("[on_completion] wr_id=0x%" PRIx64
		 ", status=%d (%s), %ssend_state=%d, recv_state=%d",
		 wc->wr_id, wc->status, ibv_wc_status_str(wc->status), opcode,
		 states->send, states->recv);
}

int story_illegal(const struct states *states, enum event event)
{
	return log_fail("protocol error: %s is not legal in %s and %s",
			event_names[event], send_names[states->send],
			recv_names[states->recv]);
}
