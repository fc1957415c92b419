/*
 * client.c - sends files to the server, and comes back if the connection breaks
 *
 * The protocol is drawn in hello.h and message.h.
 */
#include <unistd.h>

#include "addr.h"
#include "filename.h"
#include "hello.h"
#include "iwarp.h"
#include "log.h"
#include "options.h"
#include "reconnect.h"
#include "sender.h"

static struct {
	const char *address, *port;
	int seconds, depth, bytes, tries;
	bool csv;
	int mode; /* the index of a word in send|write|read */
	char **files;
} options = { .port = "22227", .seconds = 10, .depth = 64, .bytes = 65536 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS",
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do",
	  .text = &options.address },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'q', "depth", "DEPTH", "parts of a file at a time",
	  .number = &options.depth, .min = FLOW_LEAST,
	  .max = STREAM_DEPTH_MAX },
	{ 'b', "bytes", "BYTES", "size of a part", .number = &options.bytes,
	  .min = HEAD_TEXT, .max = MSG_MAX_LENGTH },
	{ 'R', "reconnect", "TRIES",
	  "if the connection breaks, try again, up to TRIES times without progress",
	  .number = &options.tries, .min = 0, .max = 1000 },
	{ 'c', "csv", .help = "print comma-separated values",
	  .flag = &options.csv },
	{ .value = "send|write|read",
	  .word = &options.mode,
	  .rest = &options.files },
};

static const char purpose[] =
	"usage: ./client -a ADDRESS [OPTION]... send|write|read FILE...\n\n"
	"Sends files to a server: by SEND; by WRITE into a ring of the server's; or\n"
	"the server READs them.\n\n"
	"example: ./client -a 192.0.2.1 write FILE";

/* What the table cannot say. Returns how many files there are, or -1. */
static int check_options(void)
{
	int count = 0;

	if (!options.address)
		return log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 send FILE");
	if (!options.files)
		return log_fail(
			"after the options, give send, write or read, and then the files; see -h");
	if ((int64_t)options.depth * options.bytes > MSG_MAX_LENGTH)
		return log_fail(
			"-q %d and -b %d: together, they must not be more than %d bytes",
			options.depth, options.bytes, MSG_MAX_LENGTH);
	while (options.files[count])
		count++;
	return filename_check_all(options.files, count) ? -1 : count;
}

/* What this machine cannot do, it cannot do later either. */
static int prepare(struct conn *conn, struct hello *hello, enum mode mode)
{
	if (mode == MODE_WRITE && iwarp_is(conn->id->verbs))
		return log_fail(
			"write: this device is iWARP, which has no write with immediate data; use send or read");
	if (hello_create_qp(conn, options.depth))
		return -1;
	return hello_open(hello);
}

/* The whole life of one connection. Returns CONNECTION_…, after reporting why. */
static int run_connection(struct sender *sender, struct addrinfo *addresses,
			  const struct patience *patience)
{
	static const enum mode modes[] = { MODE_SEND, MODE_WRITE, MODE_READ };
	struct conn conn = { .patience = *patience };
	struct hello hello = { .conn = &conn };
	struct stream stream = {
		.conn = &conn,
		.mode = modes[options.mode],
		.depth = options.depth,
		.bytes = options.bytes,
	};
	int ret = CONNECTION_BROKE;

	/* 1. Find the device and the path that lead to the server. */
	if (conn_resolve(&conn, addresses))
		goto out;
	/* 2. Create the queue pair, and post the receives for the beginning. */
	ret = CONNECTION_HOPELESS;
	if (prepare(&conn, &hello, stream.mode))
		goto out;
	ret = CONNECTION_BROKE;
	/* 3. Connect, and wait until the connection is established. */
	if (conn_connect(&conn))
		goto out;
	/* 4. Agree on how, and send the files from the one on that is due. */
	if (hello_offer(&hello, &stream) || sender_run(sender, &stream))
		goto out;
	/* 5. Disconnect. */
	ret = conn_disconnect(&conn);
out:
	/* 6. Tell the peer, and free everything: none of it is used again. */
	log_line("[LOG] closing connection conn=%p, id=%p", (void *)&conn,
		 (void *)conn.id);
	conn_end(&conn);
	stream_close(&stream);
	hello_close(&hello);
	conn_close(&conn);
	return ret;
}

/* One connection after another, until all files are there. */
static int run(struct sender *sender, const struct patience *patience)
{
	struct reconnect reconnect = { options.tries, patience->stop_fd, 0 };
	struct addrinfo *addresses;
	int ret;

	/* A name that nobody knows is no broken connection. */
	if (addr_lookup(options.address, options.port, &addresses))
		return -1;
	do {
		sender->got_on = false;
		ret = run_connection(sender, addresses, patience);
	} while (reconnect_again(&reconnect, ret, sender->got_on));
	freeaddrinfo(addresses);
	return ret || sender->refused ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct sender sender = { 0 };
	int ret = -1, count, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	count = check_options();
	if (count < 0)
		return EXIT_USAGE;
	patience.timeout_ms = options.seconds * 1000;
	sender.names = options.files;
	sender.count = count;
	sender.csv = options.csv;
	/* From now on, SIGINT and SIGTERM end the program cleanly. */
	if (!wait_for_signals(&patience.stop_fd))
		ret = run(&sender, &patience);
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
