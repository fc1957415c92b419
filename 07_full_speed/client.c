/*
 * client.c - sends a file to the server, and comes back if the connection breaks
 *
 * The protocol is drawn in message.h.
 */
#include <unistd.h>

#include "addr.h"
#include "files.h"
#include "iwarp.h"
#include "log.h"
#include "options.h"
#include "retry.h"

static struct {
	const char *address, *port;
	int seconds, depth, bytes, tries;
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
	  .min = HEAD_TEXT, .max = MEMORY_MAX },
	{ 'R', "reconnect", "TRIES",
	  "if the connection breaks, try again, up to TRIES times without progress",
	  .number = &options.tries, .min = 0, .max = 1000 },
	{ .value = "send|write|read",
	  .word = &options.mode,
	  .rest = &options.files },
};

static const char purpose[] =
	"usage: ./client -a ADDRESS [OPTION]... send|write|read FILE\n\n"
	"Sends a file to a server: by SEND; by WRITE into a ring of the server's; or the\n"
	"server READs it.\n\n"
	"example: ./client -a 192.0.2.1 write FILE";

/* What the table cannot say. Returns 0, or -1 after reporting it. */
static int check_options(void)
{
	if (!options.address)
		return log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 send FILE");
	if (!options.files || options.files[1])
		return log_fail(
			"after the options, give send, write or read, and then one file; see -h");
	if ((int64_t)options.depth * options.bytes > MEMORY_MAX)
		return log_fail(
			"-q %d and -b %d: together, they must not be more than %d bytes",
			options.depth, options.bytes, MEMORY_MAX);
	return 0;
}

/* What this machine cannot do, it cannot do later either. */
static int prepare(struct stream *stream)
{
	if (stream->mode == MODE_WRITE && iwarp_is(stream->conn->id->verbs))
		return log_fail(
			"write: this device is iWARP, which has no write with immediate data; use send or read");
	return hello_open(stream);
}

/*
 * The whole life of one connection. Returns 0, 1 if another one would do no better, or -1;
 * after reporting why.
 */
static int run_connection(struct outgoing *file, struct addrinfo *addresses,
			  const struct patience *patience)
{
	struct conn conn = { .patience = *patience };
	struct stream stream = {
		.conn = &conn,
		.mode = MODE_SEND + options.mode,
		.depth = options.depth,
		.bytes = options.bytes,
	};
	int ret = -1;

	/* 1. Find the device and the path that lead to the server. */
	if (conn_resolve(&conn, addresses))
		goto out;
	/* 2. Create the queue pair, and post all receives. */
	ret = 1;
	if (prepare(&stream))
		goto out;
	/* 3. Connect, and wait until the connection is established. */
	ret = -1;
	if (conn_connect(&conn))
		goto out;
	/* 4. Send the file. */
	ret = sender_run(&stream, file);
	/* 5. Disconnect. */
	if (ret >= 0 && conn_disconnect(&conn))
		ret = 1;
out:
	/* 6. Tell the peer, and free everything: none of it is used again. */
	log_line("[LOG] closing connection conn=%p, id=%p", (void *)&conn,
		 (void *)conn.id);
	conn_end(&conn);
	/* If a request has not come back, that was reported. */
	if (!ret && conn.pending)
		ret = 1;
	hello_close(&stream);
	conn_close(&conn);
	return ret;
}

/* One connection after another, until the file is there: see retry.h. */
static int run(struct outgoing *file, const struct patience *patience)
{
	struct addrinfo *addresses;
	uint64_t kept;
	unsigned int failures = 0;
	int ret;

	/* A name that nobody knows is no broken connection. */
	if (addr_lookup(options.address, options.port, &addresses))
		return -1;
	do {
		kept = file->kept;
		ret = run_connection(file, addresses, patience);
		/*
		 * Progress is what the server has kept, and not what we have sent.
		 * After any, there are as many tries as at first.
		 */
		failures = file->kept > kept ? 1 : failures + 1;
	} while (ret < 0 && !retry_wait(failures, options.tries, patience));
	freeaddrinfo(addresses);
	return ret;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct outgoing file = { .fd = -1 };
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (check_options())
		return EXIT_USAGE;
	patience.timeout_ms = options.seconds * 1000;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&patience.stop_fd))
		goto out;
	/* 2. Open the file: it stays the same, whatever becomes of connections. */
	if (outgoing_open(&file, options.files[0]))
		goto out;
	/* 3. Send it. */
	ret = run(&file, &patience);
out:
	/* 4. Free everything. */
	outgoing_close(&file);
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
