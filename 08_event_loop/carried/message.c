/*
 * message.c - one message each way
 */
#include "message.h"

#include "explain.h"
#include "log.h"

int message_open(struct message *message)
{
	/* Sending only reads the memory; receiving writes to it. */
	if (region_open(&message->send, message->conn, MESSAGE_SIZE, 0))
		return -1;
	return region_open(&message->recv, message->conn, MESSAGE_SIZE,
			   IBV_ACCESS_LOCAL_WRITE);
}

void message_close(struct message *message)
{
	region_close(&message->recv);
	region_close(&message->send);
}

int message_post_recv(struct message *message)
{
	return conn_post_recv(message->conn, &message->recv, message->recv.buf,
			      MESSAGE_SIZE);
}

int message_post_send(struct message *message, size_t length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)message->send.buf,
		.length = length,
		.lkey = message->send.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)message->send.buf,
		.sg_list = &sge,
		/* Some devices take a length of 0 to mean 2^31. */
		.num_sge = length ? 1 : 0,
		.opcode = IBV_WR_SEND,
	};

	return conn_post(message->conn, &wr);
}

int message_wait(struct message *message)
{
	struct ibv_wc wc;
	bool receive;

	if (conn_wait(message->conn, &wc))
		return -1;
	receive = wc.wr_id == (uintptr_t)message->recv.buf;
	log_line("wc->status = %d (%s)", wc.status,
		 ibv_wc_status_str(wc.status));
	/* Look at the status first: without success, little else is defined. */
	if (wc.status != IBV_WC_SUCCESS)
		return explain_completion(receive ? "receive" : "send", &wc);
	/*
	 * A peer can also write with immediate data, which uses up a receive but
	 * brings no message. So ask what came, and not only for which request.
	 */
	if (wc.opcode != (receive ? IBV_WC_RECV : IBV_WC_SEND))
		return log_fail(
			"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
			wc.opcode);
	if (receive) {
		log_text("received message: ", message->recv.buf, wc.byte_len);
		message->received = true;
	} else {
		log_line("send completed successfully.");
		message->sent = true;
	}
	return 0;
}
