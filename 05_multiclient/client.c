/*
 * client.c - exchanges memory regions with the server, and writes or reads
 *
 * The protocol is drawn in server.c.
 */
#include "log.h"
#include "options.h"
#include "pattern.h"
#include "place.h"

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
static int converse(struct place *place)
{
	if (transfer_run(&place->transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, disconnecting",
		 options.mode ? "READ" : "WRITE");
	return place_check(place);
}

int main(int argc, char **argv)
{
	struct place place = { .conn.network = &options.network };
	struct conn *conn = &place.conn;
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.way.address) {
		log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 write");
		return EXIT_USAGE;
	}
	conn->patience = (struct patience){ options.seconds * 1000, -1 };
	place.transfer.mode = MODE_WRITE + options.mode;
	place.transfer.bytes = options.bytes;
	/* 1. Reach the server, which has a place for us, or not. */
	if (place_reach(&place, &options.way))
		goto out;
	/* 2. Find the device that leads there. */
	if (conn_find_device(conn, NULL))
		goto out;
	/* 3. Create the queue pair, its PSN, and memory. */
	if (place_open(&place))
		goto out;
	/* 4. Exchange parameters; from INIT to RTR to RTS. */
	if (conn_connect(conn))
		goto out;
	/* 5. Write or read. */
	if (converse(&place))
		goto out;
	/* 6. Disconnect. */
	ret = conn_disconnect(conn);
out:
	/* 7. Tell the peer, and free everything. */
	log_line("[LOG] closing connection conn=%p", (void *)conn);
	place_close(&place);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
