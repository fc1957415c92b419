/*
 * client.c - exchanges memory regions with the server, and writes or reads
 *
 * The protocol is drawn in server.c.
 */
#include <locale.h>
#include <unistd.h>

#include "conn.h"
#include "content.h"
#include "data.h"
#include "hold.h"
#include "log.h"
#include "options.h"
#include "peer.h"
#include "retry.h"
#include "transfer.h"

/* Writes or reads, and checks the result. */
static int converse(struct data *data, const struct options *options,
		    unsigned int number)
{
	struct transfer transfer = { .data = data, .mode = options->mode };

	if (transfer_run(&transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, disconnecting",
		 options->mode == MODE_WRITE ? "WRITE" : "READ");
	return content_check(data, options->mode, options->counts,
			     CONTENT_SERVER, number);
}

/* Reaches the server, and tries again if the problem may pass. */
static int reach(struct conn *conn, const struct options *options,
		 const struct patience *patience, struct hello *hello)
{
	unsigned int failures = 0;
	int ret;

	while ((ret = conn_resolve(conn, options, patience, hello)) ==
	       CONN_PASSING) {
		/* Nothing was made or sent yet, so we can try again. */
		conn_close(conn);
		if (retry_wait(++failures, options->retries, patience))
			return -1;
	}
	return ret;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct options options;
	struct conn conn = { 0 };
	struct data data = { 0 };
	struct hello hello;
	int ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_CLIENT, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	patience.timeout_ms = options.timeout_ms;
	/* From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&patience.stop_fd))
		goto out;
	/* 1. Reach the server, and find the device that leads there. */
	if (reach(&conn, &options, &patience, &hello))
		goto out;
	/* 2. Choose the number of our first packet. */
	if (conn_choose_psn(&conn, &options))
		goto out;
	/* 3. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, DATA_SENDS, DATA_RECEIVES,
			   data_exposed_access(options.mode)))
		goto out;
	/* 4. Let the device use our memory, and the server some of it. */
	if (data_open(&data, &conn, options.mode, options.bytes))
		goto out;
	content_write(&data, options.mode, CONTENT_CLIENT, hello.number);
	/* 5. Post all receives, before the server can possibly send. */
	if (data_post_receives(&data))
		goto out;
	/* 6. Exchange parameters; from INIT to RTR to RTS. */
	if (conn_connect(&conn))
		goto out;
	/* 7. Write or read. */
	if (converse(&data, &options, hello.number))
		goto out;
	/* 8. Stay for a while, if asked to, and disconnect. */
	if (options.hold && hold_connection(&conn, options.hold))
		goto out;
	ret = peer_disconnect(&conn);
out:
	/* 9. Tell the peer, and free everything. */
	log_line("[LOG] closing connection conn=%p", (void *)&conn);
	conn_end(&conn);
	if (data_drain(&data))
		ret = -1;
	data_close(&data);
	conn_close(&conn);
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
