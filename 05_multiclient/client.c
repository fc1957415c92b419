/*
 * client.c - exchanges memory regions with the server, and writes or reads
 *
 * The protocol is drawn in server.c.
 */
#include <locale.h>
#include <unistd.h>

#include "conn.h"
#include "data.h"
#include "load.h"
#include "log.h"
#include "options.h"
#include "pattern.h"
#include "probe.h"
#include "shared.h"
#include "transfer.h"

/* The most requests that are posted at a time: nonce, echo, an operation. */
#define SENDS 3

/* What the server will find: what we write to it, or what it reads from us. */
static void write_message(const struct data *data, enum mode mode,
			  unsigned int number)
{
	const struct region *region =
		mode == MODE_WRITE ? &data->local : &data->exposed;

	pattern_fill(region->buf, region->size, ROLE_CLIENT, number);
}

/* Whether the server has written what it should, or we have read that. */
static int check_message(const struct data *data, enum mode mode,
			 unsigned int number)
{
	const struct region *region =
		mode == MODE_WRITE ? &data->exposed : &data->local;

	return pattern_check(region->buf, region->size, ROLE_SERVER, number);
}

/* Writes or reads, and looks at each byte. */
static int converse(struct data *data, const struct options *options,
		    unsigned int number)
{
	struct transfer transfer = {
		.data = data,
		.mode = options->mode,
		.peer = data->conn->peer.mem,
	};

	if (transfer_run(&transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, disconnecting",
		 options->mode == MODE_WRITE ? "WRITE" : "READ");
	transfer_print_result(&transfer);
	return check_message(data, options->mode, number);
}

/* The memory of the chosen mode, with our message where it will be found. */
static int open_data(struct data *data, struct conn *conn,
		     const struct options *options, unsigned int number)
{
	if (data_open(data, conn, options->mode, options->bytes))
		return -1;
	write_message(data, options->mode, number);
	return 0;
}

/* The whole life of one connection: see load.h. */
static int run_connection(struct shared *shared, const struct options *options,
			  const struct patience *patience, struct hello *hello)
{
	struct conn conn = { .held = &shared->held };
	struct data data = { 0 };
	struct remote mem;
	int ret;

	/* 1. Reach the server, and find the device that leads there. */
	ret = conn_resolve(&conn, shared, options, patience, hello);
	if (ret == CONN_FULL) {
		conn_close(&conn);
		return CONN_FULL;
	}
	if (ret)
		goto out;
	ret = -1;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, SENDS, DATA_RECEIVES,
			   data_exposed_access(options->mode)))
		goto out;
	/* 3. Let the device use our memory, and the server some of it. */
	if (open_data(&data, &conn, options, hello->number))
		goto out;
	/* 4. Post all receives, before the server can possibly send. */
	if (data_post_receives(&data))
		goto out;
	/* 5. Exchange parameters; from INIT to RTR to RTS. */
	mem = data_offer(&data);
	if (conn_connect(&conn, options->mode, &mem))
		goto out;
	/* 6. See that what is sent arrives, then write or read. */
	if (probe_path(&data) || converse(&data, options, hello->number))
		goto out;
	/* 7. Stay for a while, if asked to, and disconnect. */
	if (options->hold && conn_hold(&conn, options->hold))
		goto out;
	ret = conn_disconnect(&conn);
out:
	/* 8. Free everything of this connection. */
	log_line("[LOG] closing connection conn=%p", (void *)&conn);
	if (data_drain(&data))
		ret = -1;
	data_close(&data);
	conn_close(&conn);
	return ret;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct options options;
	struct shared shared;
	int ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_CLIENT, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	patience.timeout_ms = options.timeout_ms;
	/* From now on, SIGINT and SIGTERM end the program in order. */
	if (wait_for_signals(&patience.stop_fd))
		return EXIT_FAILED;
	/* All connections share certificate, key, CA and an open device. */
	if (!shared_open(&shared, &options))
		ret = load_run(run_connection, &shared, &options, &patience);
	shared_close(&shared);
	close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
