/*
 * client.c - asks the server for checksums
 *
 * The protocol is drawn in server.c. A client has nothing to share, so it waits as
 * in 02_write_read.
 */
#include <locale.h>
#include <unistd.h>

#include "ask.h"
#include "conn.h"
#include "content.h"
#include "data.h"
#include "log.h"
#include "options.h"
#include "transfer.h"

/* Exchanges regions, writes, and then asks. */
static int converse(struct data *data, const struct options *options)
{
	struct transfer transfer = { .data = data, .mode = MODE_WRITE };

	if (transfer_run(&transfer, true))
		return -1;
	log_line("[LOG] WRITE: Both DONE, sending requests");
	if (content_check(data, MODE_WRITE, false))
		return -1;
	for (unsigned int i = 1; i <= options->cycles; i++) {
		if (ask_run(data, options->writes))
			return -1;
		log_line("request %u of %u: %u bytes, the checksum is right%s.",
			 i, options->cycles, options->bytes,
			 options->writes ? ", and so is what was written" : "");
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
	if (conn_create_qp(&conn, DATA_SENDS, DATA_RECEIVES))
		goto out;
	/* 3. Let the device use our memory, and the server some of it. */
	if (data_open(&data, &conn, MODE_WRITE, options.bytes))
		goto out;
	content_write(&data, MODE_WRITE, "active/client");
	/* 4. Post all receives, before the server can possibly send. */
	if (data_post_receives(&data))
		goto out;
	/* 5. Connect, and wait until the connection is established. */
	if (conn_connect(&conn))
		goto out;
	/* 6. Exchange memory regions, write, and send requests. */
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
