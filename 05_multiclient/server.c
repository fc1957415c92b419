/*
 * server.c - exchanges memory regions with many clients, and writes or reads
 *
 *     client                            server
 *     (exchange of parameters, memory included: see place.h and oob.h)
 *     RDMA WRITE or READ   -->          (no program has a part in it)
 *     (no program ...)     <--          RDMA WRITE or READ
 *     MSG_DONE (SEND)      -->          the client is done with our memory
 *                          <--          MSG_DONE (SEND)
 *     (goodbye: see oob.h)
 *
 * Each client has a thread and a place of its own (place.h); all of them share one
 * open device. The two sides run at their own pace: either may be done first.
 */
#include <unistd.h>

#include "crowd.h"
#include "log.h"
#include "options.h"
#include "pattern.h"
#include "who.h"

static struct {
	struct oob_way way; /* no address: all of this machine's, IPv4 as well */
	struct network network;
	int seconds, bytes;
	int max, grace, end_after;
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
	.max = 1024,
	.grace = 10,
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
	{ 'm', "max", "MAX",
	  "clients to serve at a time; any more are told that the server is full",
	  .number = &options.max, .min = 1, .max = 100000 },
	{ 'G', "grace", "SECONDS",
	  "how long the last clients may take after a signal",
	  .number = &options.grace, .max = 3600 },
	{ 'e', "end-after", "COUNT",
	  "take COUNT connections, then end when the last has left",
	  .number = &options.end_after, .min = 1, .max = 1000000,
	  .otherwise = "do not end" },
	{ '1', "once", .help = "the same as -e 1, unless -e is given",
	  .flag = &options.once },
	{ .value = "write|read", .word = &options.mode },
};

static const char purpose[] =
	"usage: ./server [OPTION]... write|read\n\n"
	"Waits for clients and, with all of them at a time, exchanges memory regions\n"
	"and writes to the client's memory or reads from it, by RDMA; the client must\n"
	"say the same word. After SIGINT (Ctrl-C) or SIGTERM, takes no new clients and\n"
	"ends when the others have left; after a second one, ends at once. On SIGUSR1,\n"
	"prints figures.\n\n"
	"example: ./server -a 192.0.2.1 write";

/* Finds out who it is. Returns 0, or -1 if it gets no place, after saying why. */
static int admit(struct client *client, struct place *place)
{
	struct crowd *crowd = client->crowd;
	struct conn *conn = &place->conn;
	int ret;

	/* Until it has a number, it has only an address. */
	log_prefix("%s: ", client->address);
	log_hush(true);
	ret = conn_take(conn, &client->oob);
	log_hush(false);
	if (ret)
		return -1;
	/* Only clients that have shown who they are get a place. */
	crowd_let_in(client);
	/* From now on, only the end of the server's patience sends it away. */
	conn->patience.stop_fd = crowd->cut_fd;
	conn->oob.line.patience.stop_fd = crowd->cut_fd;
	place->number = client->number;
	if (place->number)
		log_prefix("Client %u: ", place->number);
	else
		log_line("server full (%u of %u): refused.", client->connected,
			 crowd->max_clients);
	if (place_tell(place, client->connected, crowd->max_clients) ||
	    !place->number)
		return -1;
	return who_print(conn->oob.line.ssl);
}

/* Writes or reads, and checks the result. */
static int converse(struct place *place)
{
	if (transfer_run(&place->transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, waiting for the client to disconnect",
		 options.mode ? "READ" : "WRITE");
	return place_check(place);
}

/* Lets the client end the connection, which it may keep for a while. */
static int wait_disconnect(struct conn *conn)
{
	int timeout_ms = conn->patience.timeout_ms, ret;

	conn->patience.timeout_ms += PLACE_HOLD_MAX * 1000;
	ret = conn_wait_disconnect(conn);
	conn->patience.timeout_ms = timeout_ms;
	return ret;
}

/* The whole life of one client, in its thread: returns how far it came. */
static enum step serve_client(struct client *client)
{
	struct crowd *crowd = client->crowd;
	struct place place = {
		.conn = {
			.patience = { options.seconds * 1000, crowd->closing_fd },
			.network = &options.network,
		},
		.transfer = {
			.mode = MODE_WRITE + options.mode,
			.bytes = options.bytes,
		},
		.held = &crowd->held,
	};
	enum step step = STEP_HANDSHAKE;

	/* 1. Find out who it is, and give it a place. */
	if (admit(client, &place))
		goto out;
	/* 2. Hear the number of the client's queue pair, and where it is. */
	step = STEP_EXCHANGE;
	if (conn_request(&place.conn, &crowd->listener))
		goto out;
	log_line("Using shared RDMA device %s",
		 ibv_get_device_name(place.conn.device->verbs->device));
	/* 3. Create the queue pair, its PSN, and memory, for it alone. */
	step = STEP_OBJECTS;
	if (place_open(&place))
		goto out;
	/* 4. Exchange parameters; from INIT to RTR to RTS. */
	step = STEP_EXCHANGE;
	if (conn_accept(&place.conn))
		goto out;
	/* 5. Write or read. */
	step = STEP_TRANSFER;
	if (converse(&place))
		goto out;
	/* 6. Let the client end the connection, which may take long. */
	step = STEP_GOODBYE;
	if (!wait_disconnect(&place.conn))
		step = STEP_DONE;
out:
	if (place.number)
		log_line("[LOG] closing connection conn=%p",
			 (void *)&place.conn);
	place_close(&place);
	return step;
}

int main(int argc, char **argv)
{
	struct crowd crowd = { .listener.network = &options.network,
			       .serve = serve_client,
			       .stop_fd = -1 };
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (options.once && !options.end_after)
		options.end_after = 1;
	/* One number for all would be as good as none. */
	if (options.network.psn >= 0 && options.end_after != 1) {
		log_fail("-P is for one connection: give -1 with it");
		return EXIT_USAGE;
	}
	crowd.max_clients = options.max;
	crowd.grace = options.grace;
	crowd.end_after = options.end_after;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&crowd.stop_fd))
		return EXIT_FAILED;
	/* 2. Open the device, once for all clients, and listen. */
	if (crowd_open(&crowd, &options.way))
		goto out;
	/* 3. Serve, a thread for each client. */
	ret = crowd_run(&crowd);
out:
	/* 4. Free everything. */
	crowd_close(&crowd);
	close(crowd.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
