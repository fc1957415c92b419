/*
 * client.c - sends one message to the server, and receives one
 *
 * The protocol is drawn in server.c.
 */
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "addr.h"
#include "log.h"
#include "message.h"
#include "optable.h"

static struct options {
	const char *address, *port, *text;
	int timeout_ms;
} options;

static const struct option_row rows[] = {
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_CLIENT,
	  offsetof(struct options, address), NULL, NULL,
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do" },
	{ 'p', OPTION_DIGITS, "port", "PORT", 1, 65535, FOR_CLIENT,
	  offsetof(struct options, port), "20886", NULL, "the server's port" },
	{ 't', OPTION_SECONDS, "timeout", "SECONDS", 1, 3600, FOR_CLIENT,
	  offsetof(struct options, timeout_ms), "10", NULL,
	  "how long the peer may take for one step" },
	{ 's', OPTION_TEXT, "send", "TEXT", 0, MESSAGE_SIZE, FOR_CLIENT,
	  offsetof(struct options, text), NULL,
	  "message from active/client side with pid N",
	  "the message, at most 1024 bytes" },
	{ 0 },
};

static const struct optable table = {
	.rows = rows,
	.who = FOR_CLIENT,
	.program = "./client",
	.required = "a",
	.words = "",
	.purpose =
		"Connects to a server, sends it one message and receives one, by RDMA.",
	.example = "./client -a 192.0.2.1 -s 'hello, RDMA'",
};

/* Reads the command line. Returns OPTIONS_GO_ON, or the exit status. */
static int parse(int argc, char **argv)
{
	int status = optable_parse(&table, &options, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.address) {
		log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1");
		return EXIT_USAGE;
	}
	if (optind < argc) {
		log_fail("%s: not an option; see -h", argv[optind]);
		return EXIT_USAGE;
	}
	return OPTIONS_GO_ON;
}

/* Writes what to send into the buffer and returns its length in bytes. */
static size_t write_message(struct message *message)
{
	size_t length;

	if (!options.text)
		return snprintf(message->send.buf, MESSAGE_SIZE,
				"message from active/client side with pid %d",
				getpid());
	/* The table of options says how long it may be. */
	length = strlen(options.text);
	memcpy(message->send.buf, options.text, length);
	return length;
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

/* Finds the device and the path that lead to the server. */
static int find_server(struct conn *conn)
{
	struct addrinfo *addresses;
	int ret;

	if (addr_lookup(options.address, options.port, &addresses))
		return -1;
	ret = conn_resolve(conn, addresses);
	freeaddrinfo(addresses);
	return ret;
}

int main(int argc, char **argv)
{
	struct conn conn = { 0 };
	struct message message = { .conn = &conn };
	int ret = -1, status;

	/* So that log_text() knows the letters of all languages. */
	setlocale(LC_CTYPE, "C.UTF-8");
	status = parse(argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	conn.patience = (struct patience){ options.timeout_ms, -1 };
	/* 1. Find the device and the path that lead to the server. */
	if (find_server(&conn))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, 1, 1))
		goto out;
	/* 3. Let the device use the memory of our messages. */
	if (message_open(&message))
		goto out;
	/* 4. Post a receive, before the server can possibly send. */
	if (message_post_recv(&message))
		goto out;
	/* 5. Connect, and wait until the connection is established. */
	if (conn_connect(&conn))
		goto out;
	/* 6. Send one message and receive one. */
	if (converse(&message))
		goto out;
	/* 7. Disconnect. */
	ret = conn_disconnect(&conn);
out:
	/* 8. Tell the peer, and free everything. */
	conn_end(&conn);
	message_close(&message);
	conn_close(&conn);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
