/*
 * client.c - talks to one or more servers from one socket
 *
 * The datagrams are drawn in server.c.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hints.h"
#include "info.h"
#include "ipv4.h"
#include "log.h"
#include "options.h"
#include "rds.h"

static struct {
	const char *servers, *port, *local;
	int transport; /* an index into "tcp|ib"; -1: the kernel chooses */
	int seconds, count, bytes, work;
	int key; /* 0: none was given */
} options = { .port = "4000",
	      .transport = -1,
	      .seconds = 10,
	      .count = 100,
	      .bytes = 64 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS[:PORT][,...]",
	  "the servers' names or addresses, up to 8",
	  .text = &options.servers },
	{ 'b', "local", "ADDRESS", "send from this address of this machine",
	  .text = &options.local,
	  .otherwise = "the one on the way to the server" },
	/* Port 1 is the kernel's, as 0 is. */
	{ 'p', "port", "PORT", "the port of servers that have none in -a",
	  .digits = &options.port, .min = 2, .max = 65535 },
	{ 'T', "transport", "tcp|ib",
	  "the transport that the kernel sends over",
	  .word = &options.transport,
	  .otherwise = "ib where an RDMA device has the address" },
	{ 't', "timeout", "SECONDS", "how long a server may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'n', "count", "COUNT", "how many messages to each server",
	  .number = &options.count, .min = 1, .max = 10000000 },
	{ 's', "size", "BYTES",
	  "the size of each message, of which a header takes the first 12",
	  .number = &options.bytes, .min = DGRAM_HEADER, .max = DGRAM_MAX },
	{ 'k', "key", "KEY",
	  "write: use this key, without asking for one; count: write with it when half is sent",
	  .number = &options.key, .otherwise = "none", .min = 1, .max = INT_MAX,
	  .hex = true },
	{ .value = "talk|count|write", .word = &options.work },
};

static const char purpose[] =
	"usage: ./client -a ADDRESS[:PORT][,...] [OPTION]... talk|count|write\n\n"
	"Talks to one or more servers from one RDS socket:\n"
	"  talk     send each a message and take its answer\n"
	"  count    send each COUNT numbered messages, and ask what has come of it\n"
	"  write    write into the server's memory by RDMA; needs ib\n\n"
	"example: ./client -a 192.0.2.1,192.0.2.1:4001 --transport tcp count";

enum {
	SERVERS_MAX = 8,
	TEXT_SIZE = 64 /* written whole: the text, and zeros up to its end */
};

struct client {
	struct rds rds;
	struct sockaddr_in servers[SERVERS_MAX];
	int server_count;
	char text[TEXT_SIZE]; /* to be written; stays until the socket is closed */
};

/* Binds one socket to one of our addresses. */
static int client_open(struct client *client)
{
	struct rds *rds = &client->rds;
	struct sockaddr_in from;
	char text[IPV4_TEXT_SIZE];

	client->server_count = ipv4_list(options.servers, options.port,
					 client->servers, SERVERS_MAX);
	/* From port 0: the kernel finds one. */
	if (client->server_count < 0 ||
	    (options.local ? ipv4_lookup(options.local, "0", &from) :
			     ipv4_way_to(&client->servers[0], &from)) ||
	    rds_open(rds, &from, options.transport))
		return -1;
	log_line("bound to %s over %s.", ipv4_text(&from, text),
		 rds_transport_name(rds->transport));
	return 0;
}

/* Is there a kernel? One of several servers on a host is enough. */
static int greet_all(struct client *client)
{
	const struct sockaddr_in *server = client->servers;

	for (int i = 0; i < client->server_count; i++, server++)
		if ((!i ||
		     server->sin_addr.s_addr != server[-1].sin_addr.s_addr) &&
		    rds_greet(&client->rds, server))
			return -1;
	return 0;
}

/* ---- talk ---- */

static int talk(struct client *client)
{
	struct rds *rds = &client->rds;
	char text[64];

	snprintf(text, sizeof(text),
		 "message from active/client side with pid %d", getpid());
	for (int i = 0; i < client->server_count; i++) {
		if (rds_ask(rds, &client->servers[i], DGRAM_TEXT, text,
			    DGRAM_ANSWER, "an answer"))
			return -1;
		log_text("received message: ", rds->in->text,
			 rds->news.length - DGRAM_HEADER);
	}
	return info_connections(rds, &client->servers[0]);
}

/* ---- write: chapter 02's, on the queue pair of the kernel's connection ---- */

/* Asks the server for memory; the key comes with the datagram. */
static int borrow(struct client *client, rds_rdma_cookie_t *key)
{
	struct rds *rds = &client->rds;

	if (rds_ask(rds, &client->servers[0], DGRAM_BORROW, "", DGRAM_LENT,
		    "the loan"))
		return -1;
	*key = rds->news.key;
	if (!*key)
		return log_fail("the server lends memory but gives no key");
	/* An rkey, and where in its first page the memory begins. */
	log_line("borrowed: rkey=0x%" PRIx32 ", offset %" PRIu32 ".",
		 (uint32_t)*key, (uint32_t)(*key >> 32));
	return 0;
}

/* Writes client->text; a datagram follows it on the same connection. */
static int post_write(struct client *client, rds_rdma_cookie_t key)
{
	struct rds_iovec local = {
		.addr = (uintptr_t)client->text,
		.bytes = TEXT_SIZE,
	};
	struct rds_rdma_args args = {
		.cookie = key,
		/* No address: an offset into what was lent. */
		.remote_vec = { .addr = 0, .bytes = TEXT_SIZE },
		.local_vec_addr = (uintptr_t)&local,
		.nr_local = 1,
		.flags = RDS_RDMA_READWRITE | RDS_RDMA_NOTIFY_ME,
	};
	struct rds_control control = {
		.type = RDS_CMSG_RDMA_ARGS,
		.data = &args,
		.size = sizeof(args),
	};
	struct dgram done;

	log_line("writing %d bytes.", TEXT_SIZE);
	return rds_send(&client->rds, &client->servers[0], &done,
			dgram_fill(&done, DGRAM_WRITTEN, 0, ""), &control);
}

/* The memory must stay as it is until the kernel says that it is done. */
static int wait_written(struct rds *rds)
{
	int64_t deadline = rds_deadline(rds);

	while (rds->status < 0)
		if (rds_wait(rds, "the completion of the write", deadline))
			return -1;
	return 0;
}

static int write_once(struct client *client)
{
	rds_rdma_cookie_t key = options.key;
	struct rds *rds = &client->rds;

	snprintf(client->text, TEXT_SIZE,
		 "written from active/client side with pid %d", getpid());
	if (!key && borrow(client, &key))
		return -1;
	if (post_write(client, key) || wait_written(rds))
		return -1;
	if (rds->status != RDS_RDMA_SUCCESS)
		return log_fail(
			"RDMA write: status %d (%s) [docs/troubleshooting.md#rds-errors]",
			rds->status, hint_status(rds->status));
	log_line("write completed: status=%d (%s).", rds->status,
		 hint_status(rds->status));
	return 0;
}

/* ---- count ---- */

/* One number to every server: their datagrams share one connection. */
static int send_number(struct client *client, int number)
{
	struct dgram *out = client->rds.out;

	/* Filled, so that a lost or misplaced byte would show. */
	memset(out, 'a' + number % 26, options.bytes);
	dgram_fill(out, DGRAM_NUMBERED, number, "");
	for (int i = 0; i < client->server_count; i++)
		if (rds_send(&client->rds, &client->servers[i], out,
			     options.bytes, NULL))
			return -1;
	return 0;
}

static int ask_total(struct rds *rds, const struct sockaddr_in *server)
{
	if (rds_ask(rds, server, DGRAM_TOTAL, "", DGRAM_TOTAL, "the total"))
		return -1;
	log_line("port %d has received:", ntohs(server->sin_port));
	log_text("  ", rds->in->text, rds->news.length - DGRAM_HEADER);
	return 0;
}

/* In the middle of our messages, a request that breaks the connection. */
static int spoil(struct client *client)
{
	log_line("half is sent; now a write with a key that nobody has lent.");
	return post_write(client, options.key);
}

static int count(struct client *client)
{
	int half = options.key ? options.count / 2 : -1;
	struct rds *rds = &client->rds;

	for (int i = 0; i < options.count; i++)
		if ((i == half && spoil(client)) || send_number(client, i))
			return -1;
	log_line("sent %d messages to each of %d.", options.count,
		 client->server_count);
	for (int i = 0; i < client->server_count; i++)
		if (ask_total(rds, &client->servers[i]))
			return -1;
	if (options.key && wait_written(rds))
		return -1;
	if (options.key)
		log_line("the write: status=%d (%s).", rds->status,
			 hint_status(rds->status));
	return info_connections(rds, &client->servers[0]);
}

/* In the order of the words for them. */
static int (*const works[])(struct client *) = { talk, count, write_once };

/* Closing throws away what is still queued. After the answers, nothing is. */
static int say_goodbye(struct client *client)
{
	for (int i = 0; i < client->server_count; i++)
		if (rds_ask(&client->rds, &client->servers[i], DGRAM_BYE, "",
			    DGRAM_BYE, "a goodbye"))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct client client = { .rds.fd = -1 };
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.servers) {
		log_fail(
			"an address is missing: give the server's with -a, as in: ./client -a 192.0.2.1 talk");
		return EXIT_USAGE;
	}
	client.rds.patience = (struct patience){ options.seconds * 1000, -1 };
	/* 1. Bind one socket, for all servers. */
	if (client_open(&client))
		goto out;
	/* 2. Is there a kernel at these addresses? */
	if (greet_all(&client))
		goto out;
	/* 3. Send and receive. There is nothing to connect. */
	if (works[options.work](&client))
		goto out;
	/* 4. Say goodbye: no kernel will, since there is no connection. */
	ret = say_goodbye(&client);
out:
	/* 5. Free everything. */
	rds_close(&client.rds);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
