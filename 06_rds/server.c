/*
 * server.c - answers datagrams of any number of clients, from one socket
 *
 *     client                            server
 *     socket, bind                      socket, bind
 *     sendmsg   -- DGRAM_TEXT -->       recvmsg
 *     recvmsg   <-- DGRAM_ANSWER --     sendmsg
 *     sendmsg   -- DGRAM_BYE -->        recvmsg
 *     recvmsg   <-- DGRAM_BYE --        sendmsg
 *
 * There is nothing to connect and nothing to disconnect. The other types of
 * datagrams are in rds.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "counts.h"
#include "hints.h"
#include "ipv4.h"
#include "lend.h"
#include "log.h"
#include "options.h"
#include "silent.h"

enum {
	PAUSE_MS = 100, /* after an error of recvmsg(2) */
	LAST_SIZE = 4096, /* bytes of the last datagram of this socket */
	BYE = 1 /* what the functions below return when all is over */
};

static struct {
	const char *address, *port;
	int transport; /* an index into "tcp|ib"; -1: the kernel chooses */
	int seconds, deaf;
	bool once;
} options = { .port = "4000", .transport = -1, .seconds = 10 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS",
	  "the name or address of this machine to listen on",
	  .text = &options.address },
	/* Port 1 is the kernel's, as 0 is. */
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 2, .max = 65535 },
	{ 'T', "transport", "tcp|ib",
	  "the transport that the kernel sends over",
	  .word = &options.transport,
	  .otherwise = "ib where an RDMA device has the address" },
	{ 't', "timeout", "SECONDS",
	  "how long a client may keep us from sending, or keep memory of ours",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'w', "wait", "SECONDS",
	  "how long to leave what comes unread, so that the port becomes congested",
	  .number = &options.deaf, .min = 0, .max = 3600 },
	{ '1', "once", .help = "end when a client says goodbye",
	  .flag = &options.once },
	{ 0 },
};

static const char purpose[] =
	"usage: ./server -a ADDRESS [OPTION]...\n\n"
	"Answers datagrams of any number of clients, from one RDS socket. Ends on\n"
	"SIGINT (Ctrl-C) or SIGTERM.\n\n"
	"example: ./server -a 192.0.2.1 --transport tcp";

struct server {
	struct rds rds; /* for all clients */
	struct counts counts;
	struct lend lend;
	struct silent silent;
};

static int server_open(struct server *server)
{
	struct rds *rds = &server->rds;
	struct sockaddr_in local;
	char text[IPV4_TEXT_SIZE];

	if (lend_open(&server->lend, rds) ||
	    ipv4_lookup(options.address, options.port, &local) ||
	    rds_open(rds, &local, options.transport))
		return -1;
	log_line("listening on %s port %d over %s%s.", ipv4_text(&local, text),
		 ntohs(local.sin_port), rds_transport_name(rds->transport),
		 options.deaf ? ", and not reading yet" : "");
	return 0;
}

/*
 * Sends to whoever the last datagram is from, and waits if it must. Whoever
 * acknowledges nothing would fill the send buffer, which all clients share; so if
 * it is still full after the wait, what was queued for that host is thrown away.
 */
static int reply(struct server *server, const void *buf, size_t length)
{
	struct rds *rds = &server->rds;
	const struct sockaddr_in *to = &rds->news.from;
	int64_t deadline = rds_deadline(rds);
	char text[IPV4_TEXT_SIZE];

	while (!silent_has(&server->silent, to)) {
		if (!rds_try(rds, to, buf, length, NULL))
			return 0;
		if (errno != EAGAIN)
			return explain_send(to, length, errno);
		if (!wait_writable(rds->fd, rds->patience.stop_fd, deadline))
			continue;
		if (errno != ETIMEDOUT)
			return wait_fail("room in the send buffer", errno,
					 &rds->patience);
		silent_add(&server->silent, rds, to);
		deadline = rds_deadline(rds);
	}
	return log_fail("%s port %d is not answered: its host is silent",
			ipv4_text(to, text), ntohs(to->sin_port));
}

static int reply_text(struct server *server, enum dgram_type type,
		      const char *text)
{
	struct dgram *out = server->rds.out;

	return reply(server, out, dgram_fill(out, type, 0, text));
}

static int answer_text(struct server *server)
{
	struct rds *rds = &server->rds;
	char text[64];

	log_text("received message: ", rds->in->text,
		 rds->news.length - DGRAM_HEADER);
	snprintf(text, sizeof(text),
		 "message from passive/server side with pid %d", getpid());
	return reply_text(server, DGRAM_ANSWER, text);
}

static int answer_total(struct server *server)
{
	char text[COUNTS_TEXT];

	counts_text(&server->counts, &server->rds.news.from, text);
	log_line("received: %s.", text);
	return reply_text(server, DGRAM_TOTAL, text);
}

static int show_memory(struct server *server)
{
	struct lend *lend = &server->lend;

	if (!ipv4_same(&lend->to, &server->rds.news.from))
		return log_fail(
			"a client says that it has written, but has no memory of ours");
	log_text("the memory that was lent: ", lend->memory,
		 strnlen(lend->memory, LEND_SIZE));
	return lend_end(lend);
}

/*
 * Sends the last datagram of this socket. Closing would throw it away if it
 * were still queued, so it is as long as the buffer: when there is room again,
 * it has been acknowledged.
 */
static int send_last(struct server *server)
{
	struct rds *rds = &server->rds;
	int room = LAST_SIZE;

	if (setsockopt(rds->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)))
		return explain_call("SO_SNDBUF", errno);
	memset(rds->out, 0, LAST_SIZE);
	dgram_fill(rds->out, DGRAM_BYE, 0, "");
	if (reply(server, rds->out, LAST_SIZE))
		return -1;
	if (wait_writable(rds->fd, rds->patience.stop_fd, rds_deadline(rds)))
		return wait_fail("the acknowledgement of our goodbye", errno,
				 &rds->patience);
	return BYE;
}

/* The client has said goodbye, and we answer with the same. */
static int answer_bye(struct server *server)
{
	const struct sockaddr_in *from = &server->rds.news.from;

	log_line("goodbye.");
	counts_forget(&server->counts, from);
	if (ipv4_same(&server->lend.to, from) && lend_end(&server->lend))
		return -1;
	return options.once ? send_last(server) :
			      reply_text(server, DGRAM_BYE, "");
}

/* What came last is a datagram. Returns 0, BYE, or -1 after reporting why. */
static int answer(struct server *server)
{
	struct rds *rds = &server->rds;
	const struct sockaddr_in *from = &rds->news.from;
	int type = dgram_check(rds->in, rds->news.length);

	switch (type) {
	case -1:
		return -1;
	case DGRAM_TEXT:
		return answer_text(server);
	case DGRAM_NUMBERED:
		counts_number(&server->counts, from, ntohl(rds->in->number));
		return 0;
	case DGRAM_TOTAL:
		return answer_total(server);
	case DGRAM_ECHO:
		return reply(server, rds->in, rds->news.length);
	case DGRAM_BORROW:
		log_line("lending %d bytes.", LEND_SIZE);
		return lend_begin(&server->lend, from);
	case DGRAM_WRITTEN:
		return show_memory(server);
	case DGRAM_BYE:
		return answer_bye(server);
	default:
		return log_fail(
			"a datagram of type %d: a client's business, not a server's",
			type);
	}
}

/* Takes the next datagram, if there is one, and answers it. */
static int answer_next(struct server *server)
{
	struct rds *rds = &server->rds;

	if (!rds_take(rds))
		return rds->news.datagram ? answer(server) : 0;
	/*
	 * The error may come again at once, as when the kernel has no memory;
	 * the pause leaves the processor to others.
	 */
	wait_readable(-1, -1, rds->patience.stop_fd, wait_deadline(PAUSE_MS));
	return -1;
}

/* Our memory has not been used in time. */
static int take_back(struct lend *lend)
{
	char text[IPV4_TEXT_SIZE];

	log_line("taking back what %s port %d has not used in time.",
		 ipv4_text(&lend->to, text), ntohs(lend->to.sin_port));
	return lend_end(lend);
}

/* Takes one datagram after another until told to stop. */
static int serve(struct server *server)
{
	struct rds *rds = &server->rds;
	int ret = 0;

	/* What fails is reported. With -1, there is nobody else to wait for. */
	while (!ret || (ret < 0 && !options.once)) {
		if (wait_readable(rds->fd, -1, rds->patience.stop_fd,
				  server->lend.until) >= 0)
			ret = answer_next(server);
		else if (errno == ECANCELED)
			return 0;
		else if (errno != ETIMEDOUT)
			return log_fail_errno("poll", errno, "cannot go on");
		else
			ret = take_back(&server->lend);
	}
	return ret == BYE ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct server server = { .rds.fd = -1 };
	int ret = -1, stop_fd = -1;
	int status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.address) {
		log_fail(
			"an address is missing: an RDS socket is bound to one address, so give it with -a, as in: ./server -a 192.0.2.1");
		return EXIT_USAGE;
	}
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&stop_fd))
		goto out;
	server.rds.patience =
		(struct patience){ options.seconds * 1000, stop_fd };
	/* 2. Allocate memory to lend; bind the socket. */
	if (server_open(&server))
		goto out;
	/* 3. With -w, leave what comes unread for a while. A signal ends that. */
	if (options.deaf &&
	    wait_readable(server.rds.fd, -1, stop_fd, INT64_MAX) >= 0)
		wait_readable(-1, -1, stop_fd,
			      wait_deadline(options.deaf * 1000));
	/* 4. Serve. */
	ret = serve(&server);
out:
	/* 5. Free everything. */
	rds_close(&server.rds);
	lend_close(&server.lend);
	if (stop_fd >= 0)
		close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
