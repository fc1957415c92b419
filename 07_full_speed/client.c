/*
 * client.c - sends files to the server, and comes back if the connection breaks
 *
 * The protocol is drawn in hello.h and head.h. Or it measures: see bench.h.
 */
#include <errno.h>
#include <locale.h>
#include <unistd.h>

#include <sys/random.h>

#include "addr.h"
#include "bench.h"
#include "cm_help.h"
#include "conn.h"
#include "hello.h"
#include "log.h"
#include "options.h"
#include "sender.h"

/* How long to wait before the next connection, at first and at most; in ms. */
#define PAUSE_MS 250
#define PAUSE_LONGEST_MS 8000

/* Agrees on how, and sends the files; or runs the benchmark. */
static int converse(struct channel *channel, struct sender *sender,
		    const struct options *options)
{
	if (options->mode == MODE_BENCH)
		return bench_client(channel->data, options);
	if (hello_send(channel))
		return -1;
	return sender_run(sender, channel);
}

/* Whether the device has what options ask for. */
static int check_device(const struct conn *conn, const struct options *options)
{
	if (options->mode == MODE_WRITE && !cm_has_immediate(conn->id->verbs))
		return log_fail(
			"write: this device is iWARP, which has no write with immediate data; use send or read");
	return 0;
}

/*
 * The whole life of one connection. Returns 0; or -1 after reporting why, or 1 if that
 * would fail again.
 */
static int run_connection(struct sender *sender, const struct options *options,
			  const struct patience *patience)
{
	struct conn conn = { 0 };
	struct data data = { 0 };
	struct channel channel = {
		.data = &data,
		.mode = options->mode,
		.depth = options->depth,
		.bytes = options->bytes,
	};
	int ret = -1;

	/* 1. Find the device and the path that lead to the server. */
	if (conn_resolve(&conn, options->address, options->port,
			 options->traffic_class, patience))
		goto out;
	/* What this machine cannot do, it cannot do later either. */
	ret = 1;
	if (check_device(&conn, options))
		goto out;
	/* 2. Create the queue pair, with room for a full queue. */
	if (conn_create_qp(&conn, channel_sends(options->depth),
			   DATA_RECEIVES + options->depth))
		goto out;
	/* 3. Let the device use our memory. */
	if (data_open(&data, &conn,
		      options->mode == MODE_BENCH ? options->bytes : 0))
		goto out;
	/* 4. Post the receives for the beginning of the conversation. */
	if (data_post_receives(&data))
		goto out;
	ret = -1;
	/* 5. Connect, and wait until the connection is established. */
	if (conn_connect(&conn))
		goto out;
	/* 6. Send the files from the one on that is due. */
	if (converse(&channel, sender, options))
		goto out;
	/* 7. Disconnect. */
	ret = conn_disconnect(&conn);
out:
	/* 8. Tell the peer, and free everything: none of it is used again. */
	log_line("[LOG] closing connection conn=%p, id=%p", (void *)&conn,
		 (void *)conn.id);
	conn_end(&conn);
	data_close(&data);
	channel_close(&channel);
	conn_close(&conn);
	return ret;
}

/*
 * Waits before the next connection; -1 if a signal ends that. Half of the time is
 * random, or all that a server has lost would come back at the same moment.
 */
static int pause_before(unsigned int attempt, const struct options *options,
			const struct patience *patience)
{
	uint32_t random;
	int ms = PAUSE_MS;

	for (unsigned int i = 1; i < attempt && ms < PAUSE_LONGEST_MS; i++)
		ms *= 2;
	/* Without a random number: the longest time, which is safe. */
	if (getrandom(&random, sizeof(random), 0) == sizeof(random))
		ms -= random % (ms / 2);
	log_line("the connection broke; again in %.2f s, %u of %u.", ms / 1e3,
		 attempt, options->tries);
	if (wait_readable(-1, -1, patience->stop_fd, wait_deadline(ms)) < 0 &&
	    errno == ECANCELED)
		return -1;
	return 0;
}

/* One connection after another, until all files are there. */
static int run(struct sender *sender, const struct options *options,
	       const struct patience *patience)
{
	struct addrinfo *list;
	unsigned int attempt = 0;
	int ret;

	/* A name that nobody knows is no broken connection. */
	if (addr_lookup(options->address, options->port, &list))
		return -1;
	freeaddrinfo(list);
	for (;;) {
		sender->got_on = false;
		ret = run_connection(sender, options, patience);
		if (ret >= 0)
			return ret || sender->refused ? -1 : 0;
		/* After any progress, there are as many tries as at first. */
		if (sender->got_on)
			attempt = 0;
		if (attempt++ == options->tries ||
		    pause_before(attempt, options, patience))
			return -1;
	}
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct options options;
	struct sender sender = { 0 };
	int ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_CLIENT, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	patience.timeout_ms = options.timeout_ms;
	sender.names = options.files;
	sender.count = options.file_count;
	sender.csv = options.csv;
	/* From now on, SIGINT and SIGTERM end the program cleanly. */
	if (!wait_for_signals(&patience.stop_fd))
		ret = run(&sender, &options, &patience);
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
