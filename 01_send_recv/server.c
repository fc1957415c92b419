/*
 * server.c - receives one message from each client, and sends one
 *
 *     client                            server
 *     rdma_connect      -- REQ -->      CONNECT_REQUEST, rdma_accept
 *     ESTABLISHED       <-- REP --
 *                       -- RTU -->      ESTABLISHED
 *     send              -- SEND -->     receive
 *     receive           <-- SEND --     send
 *     rdma_disconnect   -- DREQ -->     DISCONNECTED, rdma_disconnect
 *     DISCONNECTED      <-- DREP --
 *
 * A message is 0 to 1024 bytes of text, without a terminator: the completion
 * says how many came.
 */
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include "conn.h"
#include "data.h"
#include "log.h"
#include "options.h"

/* Writes what to send into the buffer and returns its length in bytes. */
static size_t write_message(struct data *data)
{
	return snprintf(data->send.buf, DATA_MESSAGE_SIZE,
			"message from passive/server side with pid %d",
			getpid());
}

/* Sends our message, then waits until it is sent and the peer's is here. */
static int converse(struct data *data)
{
	bool sent = false, received = false;
	struct ibv_wc wc;
	size_t length = write_message(data);

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

/* The whole life of one connection. Returns 0, or -1 after reporting why. */
static int serve_client(struct rdma_cm_id *id, const struct patience *patience)
{
	struct conn conn = { 0 };
	struct data data = { 0 };
	int ret = -1;

	/* 1. Take the request that the client has sent. */
	if (conn_request(&conn, id, patience))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, 1, 1))
		goto out;
	/* 3. Let the device use the memory of our messages. */
	if (data_open(&data, &conn))
		goto out;
	/* 4. Post a receive, before the client can possibly send. */
	if (data_post_recv(&data))
		goto out;
	/* 5. Accept, and wait until the connection is established. */
	if (conn_accept(&conn))
		goto out;
	/* 6. Send one message and receive one. */
	if (converse(&data))
		goto out;
	/* 7. Let the client end the connection. */
	ret = conn_wait_disconnect(&conn);
out:
	conn_end(&conn);
	data_close(&data);
	conn_close(&conn);
	return ret;
}

/* Serves one client after another until told to stop. */
static int serve(struct listener *listener, const struct options *options,
		 const struct patience *patience)
{
	struct rdma_cm_id *id;
	int ret;

	do {
		ret = listener_wait(listener, &id, patience);
		if (ret <= 0)
			return ret;
		/* The failure is reported. The next client may succeed. */
		ret = serve_client(id, patience);
	} while (!options->once);
	return ret;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct listener listener = { 0 };
	struct options options;
	int ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_SERVER, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	patience.timeout_ms = options.timeout_ms;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&patience.stop_fd))
		goto out;
	/* 2. Listen. */
	if (listener_open(&listener, options.address, options.port))
		goto out;
	/* 3. Serve. */
	ret = serve(&listener, &options, &patience);
out:
	/* 4. Free everything. */
	listener_close(&listener);
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
