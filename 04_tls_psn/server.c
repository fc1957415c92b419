/*
 * server.c - exchanges memory regions with each client, and writes or reads
 *
 *     client                            server
 *     (exchange of parameters, memory regions included: see oob.h)
 *     RDMA WRITE or READ   -->          (no program has a part in it)
 *     (no program ...)     <--          RDMA WRITE or READ
 *     MSG_DONE (SEND)      -->          its memory may be looked at now
 *                          <--          MSG_DONE (SEND)
 *     (goodbye: see peer.h)
 *
 * The two sides run at their own pace: state.c says which order of events is
 * legal.
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
	log_line("[LOG] %s: Both DONE, waiting for the client to disconnect",
		 options->mode == MODE_WRITE ? "WRITE" : "READ");
	return content_check(data, options->mode, options->counts);
}

/* The whole life of one connection. Returns 0, or -1 after reporting why. */
static int serve_client(struct listener *listener,
			const struct options *options,
			const struct patience *patience)
{
	struct conn conn = { 0 };
	struct data data = { 0 };
	int ret = -1;

	/* 1. Take the request that the client has sent. */
	if (conn_request(&conn, listener, patience))
		goto out;
	/* 2. Choose the number of our first packet. */
	if (conn_choose_psn(&conn, options))
		goto out;
	/* 3. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, DATA_SENDS, DATA_RECEIVES,
			   data_exposed_access(options->mode)))
		goto out;
	/* 4. Let the device use our memory, and the client some of it. */
	if (data_open(&data, &conn, options->mode, options->bytes))
		goto out;
	content_write(&data, options->mode, "passive/server");
	/* 5. Post all receives, before the client can possibly send. */
	if (data_post_receives(&data))
		goto out;
	/* 6. Exchange parameters; from INIT to RTR to RTS. */
	if (conn_accept(&conn))
		goto out;
	/* 7. Write or read. */
	if (converse(&data, options))
		goto out;
	/* 8. Let the client end the connection. */
	ret = peer_wait_disconnect(&conn, options->timeout_ms);
out:
	log_line("[LOG] closing connection conn=%p", (void *)&conn);
	conn_end(&conn);
	if (data_drain(&data))
		ret = -1;
	data_close(&data);
	conn_close(&conn);
	return ret;
}

/* Serves one client after another until told to stop. */
static int serve(struct listener *listener, const struct options *options,
		 const struct patience *patience)
{
	int ret;

	do {
		ret = listener_wait(listener, patience);
		if (ret <= 0)
			return ret;
		/* The failure is reported. The next client may succeed. */
		ret = serve_client(listener, options, patience);
	} while (!options->once && !oob_is_broken(listener->oob));
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
	if (listener_open(&listener, &options))
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
