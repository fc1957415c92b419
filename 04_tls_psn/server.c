/*
 * server.c - exchanges memory regions with each client, and writes or reads
 *
 *     client                            server
 *     (exchange of parameters, memory included: see oob.h)
 *     RDMA WRITE or READ   -->          (no program has a part in it)
 *     (no program ...)     <--          RDMA WRITE or READ
 *     MSG_DONE (SEND)      -->          the client is done with our memory
 *                          <--          MSG_DONE (SEND)
 *     (goodbye: see oob.h)
 *
 * The two sides run at their own pace: either may be done first.
 */
#include <unistd.h>

#include "log.h"
#include "options.h"
#include "pattern.h"
#include "transfer.h"

static struct {
	struct oob_way way; /* no address: all of this machine's, IPv4 as well */
	struct network network;
	int seconds, bytes;
	int mode; /* 0: write, 1: read */
	bool once;
} options = {
	.way = {
		.port = "4433",
		.files = { "certs/server.pem", "certs/server.key",
			   "certs/ca.pem" },
	},
	.network = NETWORK_DEFAULT,
	.seconds = 10,
};

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS", "listen on this name or address only",
	  .text = &options.way.address, .otherwise = "all of this machine's" },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.way.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'b', "bytes", "BYTES",
	  "memory to write to or read from, the same on both ends",
	  .number = &options.bytes, .min = PATTERN_MIN, .max = 64 << 20,
	  .otherwise = "1024" },
	NETWORK_OPTIONS(options.network),
	{ 'C', "cert", "FILE", "our certificate",
	  .text = &options.way.files.cert, .otherwise = "certs/server.pem" },
	{ 'K', "key", "FILE", "its private key", .text = &options.way.files.key,
	  .otherwise = "certs/server.key" },
	{ 'A', "ca", "FILE",
	  "the CA that must have signed the peer's certificate",
	  .text = &options.way.files.ca, .otherwise = "certs/ca.pem" },
	{ 'l', "list", "FILE",
	  "serve only clients in this list, which has a line for each: the URI in the certificate's subjectAltName, and write, read or both",
	  .text = &options.way.list,
	  .otherwise = "all that the CA has signed" },
	{ '1', "once", .help = "serve one client, then exit",
	  .flag = &options.once },
	{ .value = "write|read", .word = &options.mode },
};

static const char purpose[] =
	"usage: ./server [OPTION]... write|read\n\n"
	"Waits for clients and, with each of them in turn, exchanges memory regions\n"
	"and writes to the client's memory or reads from it, by RDMA; the client must\n"
	"say the same word. Ends on SIGINT (Ctrl-C) or SIGTERM.\n\n"
	"example: ./server -a 192.0.2.1 write";

/* Writes or reads, and checks the result. */
static int converse(struct transfer *transfer)
{
	if (transfer_run(transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, waiting for the client to disconnect",
		 options.mode ? "READ" : "WRITE");
	return transfer_check(transfer);
}

/* The whole life of one connection. Returns 0, or -1 after reporting why. */
static int serve_client(const struct conn *listener, const struct oob *client)
{
	struct conn conn = {
		.patience = listener->patience,
		.network = listener->network,
	};
	struct transfer transfer = {
		.conn = &conn,
		.mode = MODE_WRITE + options.mode,
		.bytes = options.bytes,
		.who = "passive/server",
	};
	int ret = -1;

	/* 1. Take the client, and the request that it has sent. */
	if (conn_take(&conn, client) || conn_request(&conn, listener))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, TRANSFER_SENDS, TRANSFER_RECEIVES,
			   transfer_access(transfer.mode)))
		goto out;
	/* 3. Let the device use our memory, and the client some of it. */
	if (transfer_open(&transfer))
		goto out;
	/* 4. Post all receives, before the client can possibly send. */
	if (transfer_post_receives(&transfer))
		goto out;
	/* 5. Exchange parameters; from INIT to RTR to RTS. */
	if (conn_accept(&conn))
		goto out;
	/* 6. Write or read. */
	if (converse(&transfer))
		goto out;
	/* 7. Let the client end the connection. */
	ret = conn_wait_disconnect(&conn);
out:
	log_line("[LOG] closing connection conn=%p", (void *)&conn);
	conn_end(&conn);
	transfer_close(&transfer);
	conn_close(&conn);
	return ret;
}

/* Serves one client after another until told to stop. */
static int serve(struct conn *listener)
{
	struct oob client = { 0 };
	int ret;

	do {
		ret = conn_next(listener, &client);
		if (ret <= 0)
			return ret;
		/* The failure is reported. The next client may succeed. */
		ret = serve_client(listener, &client);
	} while (!options.once);
	return ret;
}

int main(int argc, char **argv)
{
	struct conn listener = { .network = &options.network };
	int ret = -1, stop_fd = -1;
	int status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&stop_fd))
		goto out;
	listener.patience =
		(struct patience){ options.seconds * 1000, stop_fd };
	options.way.word = options.mode ? "read" : "write";
	/* 2. Listen. */
	if (conn_listen(&listener, &options.way))
		goto out;
	log_line("listening on port %s.", options.way.port);
	/* 3. Serve. */
	ret = serve(&listener);
out:
	/* 4. Free everything. */
	conn_close(&listener);
	if (stop_fd >= 0)
		close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
