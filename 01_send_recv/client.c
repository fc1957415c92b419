/*
 * client.c - sends one message to the server, and receives one
 *
 * The protocol is drawn in server.c.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conn.h"
#include "data.h"
#include "log.h"
#include "options.h"

/* Writes what to send into the buffer and returns its length in bytes. */
static size_t write_message(struct data *data, const struct options *options)
{
	size_t length;

	if (!options->text)
		return snprintf(data->send.buf, DATA_MESSAGE_SIZE,
				"message from active/client side with pid %d",
				getpid());
	/* options_parse() has checked that it fits. */
	length = strlen(options->text);
	memcpy(data->send.buf, options->text, length);
	return length;
}

/* Sends our message, then waits until it is sent and the peer's is here. */
static int converse(struct data *data, const struct options *options)
{
	bool sent = false, received = false;
	struct ibv_wc wc;
	size_t length = write_message(data, options);

	log_line("connected. posting send...");
	if (data_post_send(data, length))
		return -1;
	while (!sent || !received) {
		if (data_wait(data, &wc))
			return -1;
		if (wc.opcode & IBV_WC_RECV) {
			log_text("received message: ", data->recv.buf,
				 wc.byte_len);
			received = true;
		} else {
			log_line("send completed successfully.");
			sent = true;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct options options;
	struct conn conn = { 0 };
	struct data data = { 0 };
	int ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_CLIENT, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	patience.timeout_ms = options.timeout_ms;
	/* 1. Find the device and the path that lead to the server. */
	if (conn_resolve(&conn, options.address, options.port, &patience))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, 1, 1))
		goto out;
	/* 3. Let the device use the memory of our messages. */
	if (data_open(&data, &conn))
		goto out;
	/* 4. Post a receive, before the server can possibly send. */
	if (data_post_recv(&data))
		goto out;
	/* 5. Connect, and wait until the connection is established. */
	if (conn_connect(&conn))
		goto out;
	/* 6. Send one message and receive one. */
	if (converse(&data, &options))
		goto out;
	/* 7. Disconnect. */
	ret = conn_disconnect(&conn);
out:
	/* 8. Tell the peer, and free everything. */
	conn_end(&conn);
	data_close(&data);
	conn_close(&conn);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
