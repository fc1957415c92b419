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
#include "log.h"
#include "options.h"
#include "peer.h"
#include "transfer.h"

/* Writes or reads, and checks the result. */
static int converse(struct data *data, const struct options *options)
{
	struct transfer transfer = { .data = data, .mode = options->mode };

	if (transfer_run(&transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, disconnecting",
		 options->mode == MODE_WRITE ? "WRITE" : "READ");
	return content_check(data, options->mode, options->counts);
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
	/* 1. Reach the server, and find the device that leads there. */
	if (conn_resolve(&conn, &options, &patience))
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
	content_write(&data, options.mode, "active/client");
	/* 5. Post all receives, before the server can possibly send. */
	if (data_post_receives(&data))
		goto out;
	/* 6. Exchange parameters; from INIT to RTR to RTS. */
	if (conn_connect(&conn))
		goto out;
	/* 7. Write or read. */
	if (converse(&data, &options))
		goto out;
	/* 8. Disconnect. */
	ret = peer_disconnect(&conn);
out:
	/* 9. Tell the peer, and free everything. */
	log_line("[LOG] closing connection conn=%p", (void *)&conn);
	conn_end(&conn);
	if (data_drain(&data))
		ret = -1;
	data_close(&data);
	conn_close(&conn);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
