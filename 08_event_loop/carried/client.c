/*
 * client.c - sends one message to the server, and receives one
 *
 * The protocol is drawn in server.c.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "addr.h"
#include "log.h"
#include "message.h"
#include "options.h"

static struct {
	const char *address, *port, *text;
	int seconds;
} options = { .port = "20886", .seconds = 10 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS",
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do",
	  .text = &options.address },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 's', "send", "TEXT", "the message, at most 1024 bytes",
	  .text = &options.text,
	  .otherwise = "message from active/client side with pid N" },
	{ 0 },
};

static const char purpose[] =
	"usage: ./client -a ADDRESS [OPTION]...\n\n"
	"Connects to a server, sends it one message and receives one, by RDMA.\n\n"
	"example: ./client -a 192.0.2.1 -s 'hello, RDMA'";

/* What the table cannot say. Returns 0, or -1 after reporting what is wrong. */
static int check_options(void)
{
	if (!options.address)
		return log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1");
	if (options.text && strlen(options.text) > MESSAGE_SIZE)
		return log_fail(
			"-s: the text has %zu bytes, and at most %d are allowed; shorten it",
			strlen(options.text), MESSAGE_SIZE);
	return 0;
}

/* Writes what to send into the buffer and returns its length in bytes. */
static size_t write_message(struct message *message)
{
	size_t length;

	if (!options.text)
		return snprintf(message->send.buf, MESSAGE_SIZE,
				"message from active/client side with pid %d",
				getpid());
	/* check_options() says how long it may be. */
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
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (check_options())
		return EXIT_USAGE;
	conn.patience = (struct patience){ options.seconds * 1000, -1 };
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
