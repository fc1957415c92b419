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
#include "transfer.h"

/* Exchanges regions, then writes or reads. */
static int converse(struct data *data, const struct options *options)
{
	struct transfer transfer = { .data = data, .mode = options->mode };

	if (transfer_run(&transfer, options->first))
		return -1;
	log_line("[LOG] %s: Both DONE, calling rdma_disconnect(conn->id)",
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
	/* 1. Find the device and the path that lead to the server. */
	if (conn_resolve(&conn, options.address, options.port, &patience))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, DATA_SENDS, DATA_RECEIVES))
		goto out;
	/* 3. Let the device use our memory, and the server some of it. */
	if (data_open(&data, &conn, options.mode, options.bytes))
		goto out;
	content_write(&data, options.mode, "active/client");
	/* 4. Post all receives, before the server can possibly send. */
	if (data_post_receives(&data))
		goto out;
	/* 5. Connect, and wait until the connection is established. */
	if (conn_connect(&conn))
		goto out;
	/* 6. Exchange memory regions, then write or read. */
	if (converse(&data, &options))
		goto out;
	/* 7. Disconnect. */
	ret = conn_disconnect(&conn);
out:
	/* 8. Tell the peer, and free everything. */
	log_line("[LOG] closing connection conn=%p, id=%p", (void *)&conn,
		 (void *)conn.id);
	conn_end(&conn);
	data_close(&data);
	conn_close(&conn);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
