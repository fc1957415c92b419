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
#include <stdio.h>
#include <unistd.h>

#include "addr.h"
#include "log.h"
#include "message.h"
#include "options.h"

static struct {
	const char *address; /* NULL: all of this machine's, IPv4 as well */
	const char *port;
	int seconds;
	bool once;
} options = { .port = "20886", .seconds = 10 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS", "listen on this name or address only",
	  .text = &options.address, .otherwise = "all of this machine's" },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ '1', "once", .help = "serve one client, then exit",
	  .flag = &options.once },
	{ 0 },
};

static const char purpose[] =
	"usage: ./server [OPTION]...\n\n"
	"Waits for clients and, with each of them in turn, receives one message\n"
	"and sends one, by RDMA. Ends on SIGINT (Ctrl-C) or SIGTERM.\n\n"
	"example: ./server -a 192.0.2.1";

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
