/*
 * ask.c - one request, and its answer
 */
#include "ask.h"

#include <inttypes.h>
#include <string.h>

#include "checksum.h"
#include "log.h"
#include "log_wc.h"

int ask_send(struct data *data, bool writes)
{
	struct msg msg = {
		.type = MSG_REQUEST,
		.mode = writes ? MODE_WRITE : 0,
		.mem.length = data->local.size,
	};
	void *message = data_message(data, SLOT_SEND_FIRST);
	/* Two pieces of memory make one message. */
	struct ibv_sge sge[] = {
		{ (uintptr_t)message, MSG_SIZE, data->messages.mr->lkey },
		{ (uintptr_t)data->local.buf, msg.mem.length,
		  data->local.mr->lkey },
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)message,
		.sg_list = sge,
		.num_sge = 2,
		.opcode = IBV_WR_SEND,
	};

	msg_encode(&msg, message);
	return data_post(data, &wr);
}

int ask_check(const struct data *data, bool writes, const void *wire,
	      size_t length)
{
	const struct region *local = &data->local;
	struct msg msg;

	if (msg_decode(&msg, wire, length))
		return -1;
	if (msg.type != MSG_ANSWER || msg.mem.length != local->size)
		return log_fail(
			"protocol error: a message of type %d about %u bytes where the answer for %zu was expected",
			msg.type, msg.mem.length, local->size);
	if (msg.checksum != checksum(local->buf, local->size))
		return log_fail("the checksum 0x%016" PRIx64
				" is not that of what was sent",
				msg.checksum);
	/* The write is older than the answer, so all of it must be here. */
	if (writes && memcmp(data->exposed.buf, local->buf, local->size))
		return log_fail(
			"what the server wrote is not what was sent to it");
	return 0;
}

/* Waits until our request is complete, and the answer in slot is here. */
static int wait_answer(struct data *data, uint32_t *length)
{
	struct ibv_wc wc;

	/* The answer may be first: its acknowledgement may be late. */
	for (int i = 0; i < 2; i++) {
		if (data_wait(data, &wc))
			return -1;
		if (wc.status != IBV_WC_SUCCESS)
			return log_fail_wc(
				wc.wr_id == (uintptr_t)data_message(data,
								    SLOT_RECV) ?
					"receive" :
					"send of MSG_REQUEST",
				&wc);
		if (wc.opcode & IBV_WC_RECV)
			*length = wc.byte_len;
	}
	return 0;
}

int ask_run(struct data *data, bool writes)
{
	uint32_t length = 0;

	/* Before the request, or the answer may find no receive. */
	if (data_post_receive(data, SLOT_RECV))
		return -1;
	if (ask_send(data, writes))
		return -1;
	if (wait_answer(data, &length))
		return -1;
	return ask_check(data, writes, data_message(data, SLOT_RECV), length);
}
