/*
 * client.c - exchanges memory regions with the server, and writes or reads
 *
 * The protocol is drawn in server.c.
 */
#include "log.h"
#include "options.h"
#include "pattern.h"
#include "transfer.h"

static struct {
	struct oob_way way;
	struct network network;
	int seconds, bytes;
	int mode; /* 0: write, 1: read */
} options = {
	.way = {
		.port = "4433",
		.files = { "certs/client.pem", "certs/client.key",
			   "certs/ca.pem" },
	},
	.network = NETWORK_DEFAULT,
	.seconds = 10,
};

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS",
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do",
	  .text = &options.way.address },
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
	  .text = &options.way.files.cert, .otherwise = "certs/client.pem" },
	{ 'K', "key", "FILE", "its private key", .text = &options.way.files.key,
	  .otherwise = "certs/client.key" },
	{ 'A', "ca", "FILE",
	  "the CA that must have signed the peer's certificate",
	  .text = &options.way.files.ca, .otherwise = "certs/ca.pem" },
	{ .value = "write|read", .word = &options.mode },
};

static const char purpose[] =
	"usage: ./client -a ADDRESS [OPTION]... write|read\n\n"
	"Connects to a server, exchanges memory regions with it and writes to its\n"
	"memory or reads from it, by RDMA; the server must say the same word.\n\n"
	"example: ./client -a 192.0.2.1 write";

/* Writes or reads, and checks the result. */
static int converse(struct transfer *transfer)
{
	if (transfer_run(transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, disconnecting",
		 options.mode ? "READ" : "WRITE");
	return transfer_check(transfer);
}

int main(int argc, char **argv)
{
	struct conn conn = { .network = &options.network };
	struct transfer transfer = { .conn = &conn, .who = "active/client" };
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.way.address) {
		log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 write");
		return EXIT_USAGE;
	}
	conn.patience = (struct patience){ options.seconds * 1000, -1 };
	transfer.mode = MODE_WRITE + options.mode;
	transfer.bytes = options.bytes;
	/* 1. Reach the server, and find the device that leads there. */
	if (conn_resolve(&conn, &options.way) || conn_find_device(&conn, NULL))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, TRANSFER_SENDS, TRANSFER_RECEIVES,
			   transfer_access(transfer.mode)))
		goto out;
	/* 3. Let the device use our memory, and the server some of it. */
	if (transfer_open(&transfer))
		goto out;
	/* 4. Post all receives, before the server can possibly send. */
	if (transfer_post_receives(&transfer))
		goto out;
	/* 5. Exchange parameters; from INIT to RTR to RTS. */
	if (conn_connect(&conn))
		goto out;
	/* 6. Write or read. */
	if (converse(&transfer))
		goto out;
	/* 7. Disconnect. */
	ret = conn_disconnect(&conn);
out:
	/* 8. Tell the peer, and free everything. */
	log_line("[LOG] closing connection conn=%p", (void *)&conn);
	conn_end(&conn);
	transfer_close(&transfer);
	conn_close(&conn);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
