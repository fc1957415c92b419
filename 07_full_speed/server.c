/*
 * server.c - takes a file of each client
 *
 *     client                            server
 *     (connect as in 01_send_recv)
 *     (a file, with credits: see message.h)
 *     (disconnect as in 01_send_recv)
 */
#include <unistd.h>

#include "addr.h"
#include "files.h"
#include "log.h"
#include "options.h"

static struct {
	const char *address; /* NULL: all of this machine's, IPv4 as well */
	const char *port;
	int seconds, depth;
	const char *directory; /* NULL: it takes no files */
	int most; /* MiB that all files there may take */
	bool once;
} options = { .port = "22227", .seconds = 10, .depth = 64, .most = 1024 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS", "listen on this name or address only",
	  .text = &options.address, .otherwise = "all of this machine's" },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'd', "directory", "DIRECTORY", "put files there",
	  .text = &options.directory, .otherwise = "take none" },
	{ 'M', "most", "MIB",
	  "refuse a file if it would bring all files there to more than this many MiB",
	  .number = &options.most, .min = 1, .max = 1 << 30 },
	{ 'q', "depth", "DEPTH",
	  "the most parts of a file at a time; a client may want fewer",
	  .number = &options.depth, .min = FLOW_LEAST,
	  .max = STREAM_DEPTH_MAX },
	{ '1', "once", .help = "serve one client, then exit",
	  .flag = &options.once },
	{ 0 },
};

static const char purpose[] =
	"usage: ./server [OPTION]...\n\n"
	"Waits for clients and takes a file of each of them in turn. Ends on SIGINT\n"
	"(Ctrl-C) or SIGTERM.\n\n"
	"example: ./server -a 192.0.2.1 -d incoming";

/* The whole life of one connection. Returns 0, or -1 after reporting why. */
static int serve_client(struct rdma_cm_id *id, struct folder *folder,
			const struct patience *patience)
{
	struct conn conn = { .patience = *patience };
	struct stream stream = {
		.conn = &conn,
		.depth = options.depth,
		.receives = true,
	};
	char address[ADDR_TEXT_SIZE];
	int ret = -1;

	/* 1. Take the request that the client has sent. */
	if (conn_take(&conn, id))
		goto out;
	log_line("the client is at %s.",
		 addr_text(rdma_get_peer_addr(conn.id), address));
	/* 2. Create the queue pair, and post a receive for the first message. */
	if (hello_open(&stream))
		goto out;
	/* 3. Accept, and wait until the connection is established. */
	if (conn_accept(&conn))
		goto out;
	/* 4. Take a file. */
	if (receiver_run(&stream, folder))
		goto out;
	/* 5. Let the client end the connection. */
	ret = conn_wait_disconnect(&conn);
out:
	log_line("[LOG] closing connection conn=%p, id=%p", (void *)&conn,
		 (void *)conn.id);
	conn_end(&conn);
	/* If a request has not come back, that was reported. */
	if (conn.pending)
		ret = -1;
	hello_close(&stream);
	conn_close(&conn);
	return ret;
}

/* Serves one client after another until told to stop. */
static int serve(struct conn *listener, struct folder *folder)
{
	struct rdma_cm_id *id;
	int ret;

	do {
		ret = conn_next(listener, &id);
		if (ret <= 0)
			return ret;
		/* The failure is reported. The next client may succeed. */
		ret = serve_client(id, folder, &listener->patience);
	} while (!options.once);
	return ret;
}

static int start_listening(struct conn *listener)
{
	struct addrinfo *addresses;
	int ret;

	if (addr_lookup(options.address, options.port, &addresses))
		return -1;
	ret = conn_listen(listener, addresses);
	freeaddrinfo(addresses);
	return ret;
}

int main(int argc, char **argv)
{
	struct conn listener = { 0 };
	struct folder folder = { .fd = -1 };
	int ret = -1, stop_fd = -1;
	int status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&stop_fd))
		goto out;
	listener.patience =
		(struct patience){ options.seconds * 1000, stop_fd };
	/* 2. Find the directory, once: it stays the same. */
	if (folder_open(&folder, options.directory))
		goto out;
	folder.most = (uint64_t)options.most << 20;
	/* 3. Listen. */
	if (start_listening(&listener))
		goto out;
	/* 4. Serve. */
	ret = serve(&listener, &folder);
out:
	/* 5. Free everything. */
	conn_close(&listener);
	folder_close(&folder);
	if (stop_fd >= 0)
		close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
