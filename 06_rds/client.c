/*
 * client.c - talks to one or more servers from one socket
 *
 * The datagrams are drawn in server.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hints.h"
#include "info.h"
#include "log.h"
#include "options.h"
#include "session.h"

static struct {
	const char *addresses, *port, *local, *key_text;
	uint64_t key; /* 0: none was given */
	int transport; /* an index into transports; -1: the kernel chooses */
	int seconds, count, bytes, work;
} options = { .port = "4000",
	      .transport = -1,
	      .seconds = 10,
	      .count = 100,
	      .bytes = 64 };

static const int transports[] = { RDS_TRANS_TCP, RDS_TRANS_IB };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS[:PORT][,...]",
	  "the servers' names or addresses, up to 8",
	  .text = &options.addresses },
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
	  .text = &options.key_text, .otherwise = "none" },
	{ .value = "talk|count|congest|write", .word = &options.work },
};

static const char purpose[] =
	"usage: ./client -a ADDRESS[:PORT][,...] [OPTION]... talk|count|congest|write\n\n"
	"Talks to one or more servers from one RDS socket:\n"
	"  talk     send each a message and take its answer\n"
	"  count    send each COUNT numbered messages, and ask what has come of it\n"
	"  congest  send to a server that does not read for a while, and see the\n"
	"           congestion begin and end\n"
	"  write    write into the server's memory by RDMA; needs ib\n\n"
	"example: ./client -a 192.0.2.1,192.0.2.1:4001 --transport tcp count";

enum {
	TEXT_SIZE = 64 /* written whole: the text, and zeros up to its end */
};

/* ---- talk ---- */

static int talk(struct session *session)
{
	struct rds_news news;
	char text[64];

	snprintf(text, sizeof(text),
		 "message from active/client side with pid %d", getpid());
	for (int i = 0; i < session->peer_count; i++) {
		if (session_ask(session, &session->peers[i], DGRAM_TEXT, text,
				DGRAM_ANSWER, "an answer", &news))
			return -1;
		log_text("received message: ", session->in->text,
			 news.length - DGRAM_HEADER);
	}
	return info_connections(&session->rds, &session->peers[0]);
}

/* ---- write: chapter 02's, on the queue pair of the kernel's connection ---- */

/* Asks the server for memory; the key comes with the datagram. */
static int borrow(struct session *session, rds_rdma_cookie_t *key)
{
	struct rds_news news;

	if (session_ask(session, &session->peers[0], DGRAM_BORROW, "",
			DGRAM_LENT, "the loan", &news))
		return -1;
	if (!news.key)
		return log_fail("the server lends memory but gives no key");
	*key = news.key;
	/* An rkey, and where in its first page the memory begins. */
	log_line("borrowed: rkey=0x%" PRIx32 ", offset %" PRIu32 ".",
		 (uint32_t)news.key, (uint32_t)(news.key >> 32));
	return 0;
}

/* Writes text; a datagram follows it on the same connection. */
static int post_write(struct session *session, rds_rdma_cookie_t key,
		      const char *text)
{
	struct rds_iovec local = {
		.addr = (uintptr_t)text,
		.bytes = TEXT_SIZE,
	};
	struct rds_rdma_args args = {
		.cookie = key,
		/* No address: an offset into what was lent. */
		.remote_vec = { .addr = 0, .bytes = local.bytes },
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

	dgram_header(&done, DGRAM_WRITTEN, 0);
	log_line("writing %zu bytes.", (size_t)local.bytes);
	return session_send(session, &session->peers[0], &done, DGRAM_HEADER,
			    &control);
}

static const char *const statuses[] = {
	[RDS_RDMA_SUCCESS] = "success",
	[RDS_RDMA_REMOTE_ERROR] =
		"remote error: the key, the length or the access does not fit; the connection between the hosts has been reset for it",
	[RDS_RDMA_CANCELED] = "cancelled",
	[RDS_RDMA_DROPPED] =
		"dropped: the connection broke, and RDMA is not retried",
};

static const char *status_name(unsigned int status)
{
	return status < sizeof(statuses) / sizeof(statuses[0]) &&
			       statuses[status] ?
		       statuses[status] :
		       "another error";
}

/* The memory must stay as it is until the kernel says that it is done. */
static int wait_written(struct session *session)
{
	int64_t deadline = session_deadline(session);
	struct rds_news news;

	while (!session->completed)
		if (session_wait(session, "the completion of the write",
				 deadline, &news))
			return -1;
	return 0;
}

static int write_once(struct session *session)
{
	rds_rdma_cookie_t key = options.key;
	/* On the stack it would be gone when we stop waiting. */
	char *text = (char *)session->out + DGRAM_MAX - TEXT_SIZE;

	memset(text, 0, TEXT_SIZE);
	snprintf(text, TEXT_SIZE, "written from active/client side with pid %d",
		 getpid());
	if (!key && borrow(session, &key))
		return -1;
	if (post_write(session, key, text) || wait_written(session))
		return -1;
	if (session->status != RDS_RDMA_SUCCESS)
		return log_fail(
			"RDMA write: status %d (%s) [docs/troubleshooting.md#rds-errors]",
			session->status, status_name(session->status));
	log_line("write completed: status=%d (%s).", session->status,
		 status_name(session->status));
	return 0;
}

/* ---- count ---- */

/* One number to every server: their datagrams share one connection. */
static int send_number(struct session *session, unsigned int number)
{
	struct dgram *out = session->out;

	/* Filled, so that a lost or misplaced byte would show. */
	memset(out, 'a' + number % 26, options.bytes);
	dgram_header(out, DGRAM_NUMBERED, number);
	for (int i = 0; i < session->peer_count; i++)
		if (session_send(session, &session->peers[i], out,
				 options.bytes, NULL))
			return -1;
	return 0;
}

static int ask_total(struct session *session, const struct sockaddr_in *peer)
{
	struct rds_news news;

	if (session_ask(session, peer, DGRAM_TOTAL, "", DGRAM_TOTAL,
			"the total", &news))
		return -1;
	log_line("port %d has received:", ntohs(peer->sin_port));
	log_text("  ", session->in->text, news.length - DGRAM_HEADER);
	return 0;
}

/* In the middle of our messages, a request that breaks the connection. */
static int spoil(struct session *session)
{
	/* No byte of it arrives, whatever that memory holds by then. */
	const char *text = (char *)session->out + DGRAM_MAX - TEXT_SIZE;

	log_line("half is sent; now a write with a key that nobody has lent.");
	return post_write(session, options.key, text);
}

static int count(struct session *session)
{
	int half = options.key ? options.count / 2 : -1;

	for (int i = 0; i < options.count; i++)
		if ((i == half && spoil(session)) || send_number(session, i))
			return -1;
	log_line("sent %d messages to each of %d.", options.count,
		 session->peer_count);
	for (int i = 0; i < session->peer_count; i++)
		if (ask_total(session, &session->peers[i]))
			return -1;
	if (options.key && wait_written(session))
		return -1;
	if (options.key)
		log_line("the write: status=%d (%s).", session->status,
			 status_name(session->status));
	return info_connections(&session->rds, &session->peers[0]);
}

/* ---- congest: a port that nobody reads ---- */

/* Sends numbered messages until the kernel refuses, for congestion. */
static int send_until_congested(struct session *session, unsigned int *sent)
{
	int64_t deadline = session_deadline(session);
	const struct sockaddr_in *to = &session->peers[0];

	memset(session->out, 'x', options.bytes);
	for (*sent = 0; wait_deadline(0) < deadline;) {
		dgram_header(session->out, DGRAM_NUMBERED, *sent);
		if (!rds_send(&session->rds, to, session->out, options.bytes,
			      NULL))
			++*sent;
		else if (errno == ENOBUFS)
			return 0;
		else if (errno != EAGAIN)
			return explain_send(to, options.bytes, errno);
		else
			rds_wait_room(&session->rds, deadline);
	}
	return log_fail(
		"%u messages, and no congestion; does the server read them: start it with -w",
		*sent);
}

/* What poll(2) says about it. */
static void tell_poll(struct session *session)
{
	struct pollfd fd = {
		.fd = session->rds.fd,
		.events = POLLIN | POLLOUT,
	};

	if (poll(&fd, 1, 0) < 0)
		fd.revents = 0;
	log_line("poll: POLLIN %s, POLLOUT %s.",
		 fd.revents & POLLIN ? "yes" : "no",
		 fd.revents & POLLOUT ? "yes" : "no");
}

static int congest(struct session *session)
{
	const struct sockaddr_in *peer = &session->peers[0];
	int port = ntohs(peer->sin_port);
	unsigned int sent;

	if (send_until_congested(session, &sent))
		return -1;
	log_line("ENOBUFS for port %d after %u messages.", port, sent);
	tell_poll(session);
	/* The port is congested, not the host. */
	if (session_greet(session, peer) ||
	    session_wait_uncongested(session, peer, session_deadline(session)))
		return -1;
	log_line("news: group %d of the ports has room again.", port % 64);
	return ask_total(session, peer);
}

/* In the order of the words for them. */
static int (*const works[])(struct session *) = { talk, count, congest,
						  write_once };

static int read_key(void)
{
	const char *text = options.key_text;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	options.key = strtoull(text, &end, 0);
	if (end != text && !*end && !errno && *text != '-' && options.key)
		return 0;
	return log_fail(
		"-k %s: a key is a number of 64 bits and not 0, such as 0x12345",
		text);
}

int main(int argc, char **argv)
{
	struct session session = { .rds.fd = -1 };
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.addresses)
		log_fail(
			"an address is missing: give the server's with -a, as in: ./client -a 192.0.2.1 talk");
	if (!options.addresses || read_key())
		return EXIT_USAGE;
	session.rds.patience = (struct patience){ options.seconds * 1000, -1 };
	/* 1. Bind one socket, for all servers. */
	if (session_open(&session, options.addresses, options.port,
			 options.local,
			 options.transport < 0 ? (int)RDS_TRANS_NONE :
						 transports[options.transport]))
		goto out;
	/* 2. Is there a kernel at these addresses? */
	if (session_greet_all(&session))
		goto out;
	/* 3. Send and receive. There is nothing to connect. */
	if (works[options.work](&session))
		goto out;
	/* 4. Say goodbye: no kernel will, since there is no connection. */
	ret = session_bye(&session);
out:
	/* 5. Free everything. */
	session_close(&session);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
