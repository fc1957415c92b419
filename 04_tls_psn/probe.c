/*
 * probe.c - does what we send really arrive?
 */
#include "probe.h"

#include <errno.h>
#include <sys/random.h>

#include "log.h"
#include "story.h"

struct probe {
	struct data *data;
	uint64_t nonce; /* ours */
	unsigned int sent; /* our sends that are complete: 2 in the end */
	bool echoed; /* ours came back */
	bool answered; /* the peer's was sent back */
};

static int send_echo(struct probe *probe, uint64_t nonce)
{
	struct msg msg = { .type = MSG_ECHO, .nonce = nonce };

	probe->answered = true;
	return data_post_send(probe->data, SLOT_SEND_ECHO, &msg);
}

static int on_message(struct probe *probe, const struct ibv_wc *wc)
{
	struct msg msg;

	if (msg_decode(&msg, (void *)(uintptr_t)wc->wr_id, wc->byte_len))
		return -1;
	if (msg.type == MSG_NONCE && !probe->answered)
		return send_echo(probe, msg.nonce);
	if (msg.type == MSG_ECHO && !probe->echoed) {
		if (msg.nonce != probe->nonce)
			return log_fail("the peer sent another number back "
					"than ours");
		probe->echoed = true;
		return 0;
	}
	/* The peer may be through already, and even done. */
	if (msg.type == MSG_DONE && probe->echoed && probe->answered &&
	    !probe->data->has_early) {
		probe->data->early = *wc;
		probe->data->has_early = true;
		return 0;
	}
	return log_fail("protocol error: message type %d does not belong "
			"here",
			msg.type);
}

static int run(struct probe *probe)
{
	int64_t deadline =
		wait_deadline(probe->data->conn->patience.timeout_ms);
	struct ibv_wc wc;

	while (probe->sent < 2 || !probe->echoed || !probe->answered) {
		if (data_wait(probe->data, &wc,
			      "the echo of what was sent (a successful "
			      "completion is no proof of delivery)",
			      deadline))
			return -1;
		if (wc.status != IBV_WC_SUCCESS)
			return log_fail_wc(story_request(probe->data, wc.wr_id),
					   &wc);
		if (!(wc.opcode & IBV_WC_RECV))
			probe->sent++;
		else if (on_message(probe, &wc))
			return -1;
	}
	return 0;
}

int probe_path(struct data *data)
{
	struct probe probe = { .data = data };
	struct msg msg = { .type = MSG_NONCE };

	/* So few bytes come whole or not at all: getrandom(2). */
	if (getrandom(&probe.nonce, sizeof(probe.nonce), 0) !=
	    sizeof(probe.nonce))
		return log_fail_errno("getrandom", errno, "no nonce");
	msg.nonce = probe.nonce;
	if (data_post_send(data, SLOT_SEND_NONCE, &msg))
		return -1;
	if (run(&probe))
		return -1;
	log_line("echo: what is sent arrives, both ways.");
	return 0;
}

bool probe_arrived(const struct data *data, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return true;
	if (!data->conn->peer_done ||
	    wc->wr_id != (uintptr_t)data_message(data, SLOT_SEND_DONE))
		return false;
	log_line("MSG_DONE was not acknowledged, but the peer's goodbye says "
		 "that it has come.");
	return true;
}
