/*
 * server.c - exchanges memory regions with each client, and writes or reads
 *
 *     client                            server
 *     (connect as in 01_send_recv)
 *     MSG_MR (SEND)        -->          where to write to, or read from
 *                          <--          MSG_MR (SEND)
 *     RDMA WRITE or READ   -->          (no program has a part in it)
 *     (no program ...)     <--          RDMA WRITE or READ
 *     MSG_DONE (SEND)      -->          the client is done with our memory
 *                          <--          MSG_DONE (SEND)
 *     (disconnect as in 01_send_recv)
 *
 * The two sides run at their own pace: state.c says which order of events is
 * legal.
 */
#include <unistd.h>

#include "addr.h"
#include "log.h"
#include "options.h"
#include "pattern.h"
#include "transfer.h"

static struct {
	const char *address; /* NULL: all of this machine's, IPv4 as well */
	const char *port;
	int seconds, bytes;
	int answer; /* 0: send MSG_MR first; 1: as an answer to the client's */
	int mode; /* 0: write, 1: read */
	bool once;
} options = { .port = "22222", .seconds = 10, .answer = 1 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS", "listen on this name or address only",
	  .text = &options.address, .otherwise = "all of this machine's" },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'o', "order", "first|answer",
	  "send MSG_MR first, or as an answer to the client's",
	  .word = &options.answer },
	{ 'b', "bytes", "BYTES",
	  "memory to write to or read from, the same on both ends",
	  .number = &options.bytes, .min = PATTERN_MIN, .max = 64 << 20,
	  .otherwise = "1024" },
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

/* Exchanges memory regions, then writes or reads. */
static int converse(struct transfer *transfer)
{
	if (!options.answer && transfer_start(transfer))
		return -1;
	if (transfer_run(transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, waiting for the client to disconnect",
		 options.mode ? "READ" : "WRITE");
	return transfer_check(transfer);
}

/* The whole life of one connection. Returns 0, or -1 after reporting why. */
static int serve_client(struct rdma_cm_id *id, const struct patience *patience)
{
	struct conn conn = { .patience = *patience };
	struct transfer transfer = {
		.conn = &conn,
		.mode = MODE_WRITE + options.mode,
		.bytes = options.bytes,
		.who = "passive/server",
	};
	int ret = -1;

	/* 1. Take the request that the client has sent. */
	if (conn_take(&conn, id))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, TRANSFER_SENDS, TRANSFER_RECEIVES))
		goto out;
	/* 3. Let the device use our memory, and the client some of it. */
	if (transfer_open(&transfer))
		goto out;
	/* 4. Post all receives, before the client can possibly send. */
	if (transfer_post_receives(&transfer))
		goto out;
	/* 5. Accept, and wait until the connection is established. */
	if (conn_accept(&conn))
		goto out;
	/* 6. Exchange memory regions, then write or read. */
	if (converse(&transfer))
		goto out;
	/* 7. Let the client end the connection. */
	ret = conn_wait_disconnect(&conn);
out:
	log_line("[LOG] closing connection conn=%p, id=%p", (void *)&conn,
		 (void *)conn.id);
	conn_end(&conn);
	transfer_close(&transfer);
	conn_close(&conn);
	return ret;
}

/* Serves one client after another until told to stop. */
static int serve(struct conn *listener)
{
	struct rdma_cm_id *id;
	int ret;

	do {
		ret = conn_next(listener, &id);
		if (ret <= 0)
			return ret;
		/* The failure is reported. The next client may succeed. */
		ret = serve_client(id, &listener->patience);
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
	int ret = -1, stop_fd = -1;
	int status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&stop_fd))
		goto out;
	listener.patience =
		(struct patience){ options.seconds * 1000, stop_fd };
	/* 2. Listen. */
	if (start_listening(&listener))
		goto out;
	/* 3. Serve. */
	ret = serve(&listener);
out:
	/* 4. Free everything. */
	conn_close(&listener);
	if (stop_fd >= 0)
		close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
