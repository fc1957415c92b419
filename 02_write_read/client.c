/*
 * client.c - exchanges memory regions with the server, and writes or reads
 *
 * The protocol is drawn in server.c.
 */
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include "conn.h"
#include "data.h"
#include "log.h"
#include "options.h"
#include "pattern.h"
#include "transfer.h"

/* The most requests that are posted at a time: MSG_MR and an operation. */
#define SENDS 2

/* What the server will find: what we write to it, or what it reads from us. */
static void write_message(const struct data *data, enum mode mode)
{
	const struct region *region =
		mode == MODE_WRITE ? &data->local : &data->exposed;

	snprintf(region->buf, region->size,
		 "message from active/client side with pid %d", getpid());
	pattern_fill(region->buf, region->size);
}

/* Shows what has come, and looks at every byte of it. */
static int check_result(const struct transfer *transfer,
			const struct options *options)
{
	const struct region *result = transfer_result(transfer);

	transfer_print_result(transfer);
	if (pattern_check(result->buf, result->size))
		return -1;
	if (options->counts)
		log_line("%zu bytes verified.", result->size);
	return 0;
}

/* Exchanges regions, then writes or reads. */
static int converse(struct data *data, const struct options *options)
{
	struct transfer transfer = { .data = data, .mode = options->mode };

	write_message(data, options->mode);
	if (options->first && transfer_event(&transfer, EV_START))
		return -1;
	if (transfer_run(&transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, calling rdma_disconnect(conn->id)",
		 options->mode == MODE_WRITE ? "WRITE" : "READ");
	return check_result(&transfer, options);
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
	if (conn_resolve(&conn, &options, &patience))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, SENDS, DATA_RECEIVES))
		goto out;
	/* 3. Let the device use our memory, and the server some of it. */
	if (data_open(&data, &conn, options.mode, options.bytes))
		goto out;
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
	/* 8. Free everything. */
	log_line("[LOG] destroy_connection called for conn=%p, id=%p",
		 (void *)&conn, (void *)conn.id);
	data_close(&data);
	conn_close(&conn);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
