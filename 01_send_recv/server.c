/*
 * server.c - receives one message from each client, and sends one
 *
 *     client                            server
 *     rdma_connect      -- REQ -->      CONNECT_REQUEST, rdma_accept
 *     ESTABLISHED       <-- REP --
 *                       -- RTU -->      ESTABLISHED
 *     send              -- SEND -->     receive
 *     receive           <-- SEND --     send
 *     rdma_disconnect   -- DREQ -->     DISCONNECTED, rdma_disconnect
 *     DISCONNECTED      <-- DREP --
 */
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include "addr.h"
#include "log.h"
#include "message.h"
#include "optable.h"

static struct options {
	const char *address, *port;
	int timeout_ms;
	bool once;
} options;

static const struct option_row rows[] = {
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_SERVER,
	  offsetof(struct options, address), NULL, "all of this machine's",
	  "listen on this name or address only" },
	{ 'p', OPTION_DIGITS, "port", "PORT", 1, 65535, FOR_SERVER,
	  offsetof(struct options, port), "20886", NULL, "the server's port" },
	{ 't', OPTION_SECONDS, "timeout", "SECONDS", 1, 3600, FOR_SERVER,
	  offsetof(struct options, timeout_ms), "10", NULL,
	  "how long the peer may take for one step" },
	{ '1', OPTION_FLAG, "once", NULL, 0, 0, FOR_SERVER,
	  offsetof(struct options, once), NULL, NULL,
	  "serve one client, then exit" },
	{ 0 },
};

static const struct optable table = {
	.rows = rows,
	.who = FOR_SERVER,
	.program = "./server",
	.required = "",
	.words = "",
	.purpose =
		"Waits for clients and, with each of them in turn, receives one message\n"
		"and sends one, by RDMA. Ends on SIGINT (Ctrl-C) or SIGTERM.",
	.example = "./server -a 192.0.2.1",
};

/* Writes what to send into the buffer and returns its length in bytes. */
static size_t write_message(struct message *message)
{
	return snprintf(message->send.buf, MESSAGE_SIZE,
			"message from passive/server side with pid %d",
			getpid());
}

/* Sends our message, then waits until it is sent and the peer's is here. */
static int converse(struct message *message)
{
	log_line("connected. posting send...");
	if (message_post_send(message, write_message(message)))
		return -1;
	while (!message->sent || !message->received)
		if (message_wait(message))
			return -1;
	return 0;
}

/* The whole life of one connection. Returns 0, or -1 after reporting why. */
static int serve_client(struct rdma_cm_id *id, const struct patience *patience)
{
	struct conn conn = { .patience = *patience };
	struct message message = { .conn = &conn };
	int ret = -1;

	/* 1. Take the request that the client has sent. */
	if (conn_take(&conn, id))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, 1, 1))
		goto out;
	/* 3. Let the device use the memory of our messages. */
	if (message_open(&message))
		goto out;
	/* 4. Post a receive, before the client can possibly send. */
	if (message_post_recv(&message))
		goto out;
	/* 5. Accept, and wait until the connection is established. */
	if (conn_accept(&conn))
		goto out;
	/* 6. Send one message and receive one. */
	if (converse(&message))
		goto out;
	/* 7. Let the client end the connection. */
	ret = conn_wait_disconnect(&conn);
out:
	conn_end(&conn);
	message_close(&message);
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
	int ret = -1, stop_fd = -1, status;

	/* So that log_text() knows the letters of all languages. */
	setlocale(LC_CTYPE, "C.UTF-8");
	status = optable_parse(&table, &options, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	if (optind < argc) {
		log_fail("%s: not an option; see -h", argv[optind]);
		return EXIT_USAGE;
	}
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&stop_fd))
		goto out;
	listener.patience = (struct patience){ options.timeout_ms, stop_fd };
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
