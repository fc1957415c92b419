/*
 * server.c - takes the files of each client
 *
 *     client                            server
 *     (connect as in 01_send_recv)
 *     (agree on parts, and on the way that they go: see hello.h)
 *     (files, with credits: see head.h)
 *     (disconnect as in 01_send_recv)
 *
 * A client may ask for a benchmark instead: see bench.h.
 */
#include <locale.h>
#include <unistd.h>

#include "addr.h"
#include "bench.h"
#include "conn.h"
#include "hello.h"
#include "log.h"
#include "options.h"
#include "receiver.h"

/* Takes files, or serves a benchmark if the client asks for one. */
static int converse(struct channel *channel, struct folder *folder,
		    bool benchmark)
{
	struct msg msg;

	if (hello_first(channel->data, &msg))
		return -1;
	if (msg.type == MSG_BENCH)
		return benchmark ? bench_serve(channel->data, msg.mem.length,
					       channel->depth) :
				   bench_refuse(channel->data);
	if (hello_receive(channel, &msg))
		return -1;
	log_line("files by %s, %u parts of %zu bytes at a time.",
		 msg_mode_name(channel->mode), channel->depth, channel->bytes);
	return receiver_run(channel, folder);
}

/* The whole life of one connection. Returns 0, or -1 after reporting why. */
static int serve_client(struct rdma_cm_id *id, const struct options *options,
			struct folder *folder, const struct patience *patience)
{
	struct conn conn = { 0 };
	struct data data = { 0 };
	struct channel channel = { .data = &data, .depth = options->depth };
	char address[ADDR_TEXT_SIZE];
	int ret = -1;

	/* 1. Take the request that the client has sent. */
	if (conn_request(&conn, id, patience))
		goto out;
	log_line("the client is at %s.",
		 addr_text(rdma_get_peer_addr(conn.id), address));
	/* 2. Create the queue pair, with room for a full queue. */
	if (conn_create_qp(&conn, channel_sends(options->depth),
			   DATA_RECEIVES + options->depth))
		goto out;
	/* 3. Let the device use our memory. */
	if (data_open(&data, &conn, 0))
		goto out;
	/* 4. Post the receives for the beginning of the conversation. */
	if (data_post_receives(&data))
		goto out;
	/* 5. Accept, and wait until the connection is established. */
	if (conn_accept(&conn))
		goto out;
	/* 6. Take what comes. */
	if (converse(&channel, folder, options->benchmark))
		goto out;
	/* 7. Let the client end the connection. */
	ret = conn_wait_disconnect(&conn);
out:
	log_line("[LOG] closing connection conn=%p, id=%p", (void *)&conn,
		 (void *)conn.id);
	conn_end(&conn);
	data_close(&data);
	channel_close(&channel);
	conn_close(&conn);
	return ret;
}

/* Serves one client after another until told to stop. */
static int serve(struct listener *listener, const struct options *options,
		 struct folder *folder, const struct patience *patience)
{
	struct rdma_cm_id *id;
	int ret;

	do {
		ret = listener_wait(listener, &id, patience);
		if (ret <= 0)
			return ret;
		/* The failure was reported. The next client may succeed. */
		ret = serve_client(id, options, folder, patience);
	} while (!options->once);
	return ret;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct listener listener = { 0 };
	struct folder folder = { .fd = -1 };
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
	/* 2. Find the directory, once: it stays the same. */
	if (folder_open(&folder, options.directory))
		goto out;
	folder.update = options.update;
	folder.most = (uint64_t)options.most << 20;
	/* 3. Listen. */
	if (listener_open(&listener, options.address, options.port))
		goto out;
	/* 4. Serve. */
	ret = serve(&listener, &options, &folder, &patience);
out:
	/* 5. Free everything. */
	listener_close(&listener);
	folder_close(&folder);
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
