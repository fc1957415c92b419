/*
 * transfer.c - one transfer: from completions to what to do next
 */
#include "transfer.h"

#include "log.h"
#include "log_wc.h"
#include "story.h"

static int send_done(struct transfer *transfer)
{
	struct msg msg = { .type = MSG_DONE };

	return data_post_send(transfer->data, SLOT_SEND_DONE, &msg);
}

static int start_rdma(struct transfer *transfer)
{
	story_start(transfer->data, transfer->mode,
		    &transfer->data->conn->peer.mem);
	return data_post_rdma(transfer->data,
			      transfer->mode == MODE_WRITE ? IBV_WR_RDMA_WRITE :
							     IBV_WR_RDMA_READ,
			      &transfer->data->conn->peer.mem);
}

/* Returns 0; 1 if the transfer is finished; or -1 after reporting why. */
static int transfer_event(struct transfer *transfer, enum event event)
{
	switch (state_step(&transfer->states, event)) {
	case ACT_NOTHING:
		return 0;
	case ACT_SEND_DONE:
		return send_done(transfer);
	case ACT_FINISH:
		return 1;
	default:
		return story_illegal(&transfer->states, event);
	}
}

/* One of our requests is complete. */
static int on_send(struct transfer *transfer, const struct ibv_wc *wc)
{
	const struct data *data = transfer->data;
	enum event event = EV_RDMA_DONE;

	log_line("send completed successfully.");
	if (wc->wr_id == (uintptr_t)data_message(data, SLOT_SEND_DONE))
		event = EV_DONE_SENT;
	return transfer_event(transfer, event);
}

/* One of the peer's messages is here. */
static int on_receive(struct transfer *transfer, const struct ibv_wc *wc)
{
	struct msg msg;

	if (msg_decode(&msg, (const void *)(uintptr_t)wc->wr_id, wc->byte_len))
		return -1;
	return transfer_event(transfer, EV_DONE_RECEIVED);
}

/* Checks the status first: without success, little else is defined. */
static int on_completion(struct transfer *transfer, const struct ibv_wc *wc)
{
	story_completion(wc, &transfer->states);
	if (wc->status != IBV_WC_SUCCESS)
		return log_fail_wc(story_request(transfer->data, wc->wr_id),
				   wc);
	if (wc->opcode & IBV_WC_RECV)
		return on_receive(transfer, wc);
	return on_send(transfer, wc);
}

int transfer_run(struct transfer *transfer)
{
	int ret = start_rdma(transfer);
	struct ibv_wc wc;

	while (ret == 0) {
		if (data_wait(transfer->data, &wc,
			      story_awaited(&transfer->states)))
			return -1;
		ret = on_completion(transfer, &wc);
	}
	return ret < 0 ? -1 : 0;
}
