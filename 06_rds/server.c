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
 * datagrams are in dgram.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counts.h"
#include "dgram.h"
#include "hints.h"
#include "ipv4.h"
#include "lend.h"
#include "log.h"
#include "options.h"
#include "silent.h"

enum {
	PAUSE_MS = 100, /* after an error of recvmsg(2) */
	BYE = 1 /* what the functions below return when all is over */
};

static struct {
	const char *address, *port;
	int transport; /* an index into transports; -1: the kernel chooses */
	int seconds, deaf;
	bool once;
} options = { .port = "4000", .transport = -1, .seconds = 10 };

static const int transports[] = { RDS_TRANS_TCP, RDS_TRANS_IB };

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
	  "do not read for so long, so that the port becomes congested",
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
	struct dgram *in, *out; /* of DGRAM_MAX bytes each */
	struct counts counts;
	struct lend lend;
	struct silent silent;
};

/* The moment when a step that begins now has taken too long. */
static int64_t deadline_of(const struct server *server)
{
	return wait_deadline(server->rds.patience.timeout_ms);
}

static int server_open(struct server *server)
{
	struct sockaddr_in local;
	char text[IPV4_TEXT_SIZE];

	server->in = malloc(DGRAM_MAX);
	server->out = malloc(DGRAM_MAX);
	if (!server->in || !server->out)
		return log_fail("no memory for two datagrams of %d bytes",
				DGRAM_MAX);
	if (lend_open(&server->lend, &server->rds) ||
	    ipv4_lookup(options.address, options.port, &local) ||
	    rds_open(&server->rds, &local,
		     options.transport < 0 ? (int)RDS_TRANS_NONE :
					     transports[options.transport]))
		return -1;
	log_line("listening on %s port %d over %s%s.", ipv4_text(&local, text),
		 ntohs(local.sin_port),
		 rds_transport_name(server->rds.transport),
		 options.deaf ? ", and not reading yet" : "");
	return 0;
}

static void server_close(struct server *server)
{
	rds_close(&server->rds);
	lend_close(&server->lend);
	free(server->in);
	free(server->out);
}

/*
 * Sends, and waits if it must. Whoever acknowledges nothing would fill the send
 * buffer, which all clients share; so if it is still full after the wait, what
 * was queued for that host is thrown away.
 */
static int send_bytes(struct server *server, const struct sockaddr_in *to,
		      const void *buf, size_t length)
{
	int64_t deadline = deadline_of(server);
	char text[IPV4_TEXT_SIZE];

	while (!silent_has(&server->silent, to)) {
		if (!rds_send(&server->rds, to, buf, length, NULL))
			return 0;
		if (errno != EAGAIN)
			return explain_send(to, length, errno);
		if (!rds_wait_room(&server->rds, deadline))
			continue;
		if (errno != ETIMEDOUT)
			return wait_fail("room in the send buffer", errno,
					 &server->rds.patience);
		silent_add(&server->silent, &server->rds, to);
		deadline = deadline_of(server);
	}
	return log_fail("%s port %d is not answered: its host is silent",
			ipv4_text(to, text), ntohs(to->sin_port));
}

static int send_text(struct server *server, const struct sockaddr_in *to,
		     enum dgram_type type, const char *text)
{
	return send_bytes(server, to, server->out,
			  dgram_text(server->out, type, text));
}

static int answer_text(struct server *server, const struct rds_news *news)
{
	char text[64];

	log_text("received message: ", server->in->text,
		 news->length - DGRAM_HEADER);
	snprintf(text, sizeof(text),
		 "message from passive/server side with pid %d", getpid());
	return send_text(server, &news->from, DGRAM_ANSWER, text);
}

static int answer_total(struct server *server, const struct sockaddr_in *from)
{
	char text[COUNTS_TEXT];

	counts_text(&server->counts, from, text);
	log_line("received: %s.", text);
	return send_text(server, from, DGRAM_TOTAL, text);
}

/*
 * Only a connection has a queue pair that memory can be registered for. Where
 * there is none yet, we ask the other kernel for a sign of life, at its port 0:
 * its answer comes over the connection, and brings us back here.
 */
static int send_loan(struct server *server, struct loan *loan)
{
	size_t length = dgram_text(server->out, DGRAM_LENT, "here you are");
	struct sockaddr_in to = loan->to;
	int err;

	if (!lend_send(&server->lend, loan, server->out, length))
		return 0;
	err = errno;
	if (err == EAGAIN || err == EINVAL) {
		to.sin_port = 0;
		return send_bytes(server, &to, NULL, 0);
	}
	lend_end(&server->lend, loan);
	return explain_send(&to, length, err);
}

static int answer_borrow(struct server *server, const struct sockaddr_in *from)
{
	struct loan *loan =
		lend_begin(&server->lend, from, deadline_of(server));

	if (!loan)
		return -1;
	log_line("lending %d bytes.", LEND_SIZE);
	return send_loan(server, loan);
}

/* The kernel of a host answers: there is a connection to it. */
static int answer_kernel(struct server *server, const struct sockaddr_in *host)
{
	struct loan *loan = lend_waiting(&server->lend, host);

	return loan ? send_loan(server, loan) : 0;
}

static int show_memory(struct server *server, const struct sockaddr_in *from)
{
	struct loan *loan = lend_find(&server->lend, from);

	if (!loan)
		return log_fail(
			"a client says that it has written, but has no memory of ours");
	log_text("the memory that was lent: ", loan->memory,
		 strnlen(loan->memory, LEND_SIZE));
	return lend_end(&server->lend, loan);
}

/*
 * Sends the last datagram of this socket. Closing would throw it away if it
 * were still queued, so it is as long as the buffer: when there is room again,
 * it has been acknowledged.
 */
static int send_last(struct server *server, const struct sockaddr_in *to)
{
	long length = rds_shrink_room(&server->rds);

	if (length < 0)
		return -1;
	memset(server->out, 0, length);
	dgram_header(server->out, DGRAM_BYE, 0);
	if (send_bytes(server, to, server->out, length))
		return -1;
	if (rds_wait_room(&server->rds, deadline_of(server)))
		return wait_fail("the acknowledgement of our goodbye", errno,
				 &server->rds.patience);
	return BYE;
}

/* The client has said goodbye, and we answer with the same. */
static int answer_bye(struct server *server, const struct sockaddr_in *from)
{
	struct loan *loan = lend_find(&server->lend, from);

	log_line("goodbye.");
	counts_forget(&server->counts, from);
	if (loan && lend_end(&server->lend, loan))
		return -1;
	if (options.once)
		return send_last(server, from);
	return send_text(server, from, DGRAM_BYE, "");
}

/* The datagram is in server->in. Returns 0, BYE, or -1 after reporting why. */
static int answer(struct server *server, const struct rds_news *news)
{
	const struct sockaddr_in *from = &news->from;
	int type;

	if (!news->length && !from->sin_port)
		return answer_kernel(server, from);
	type = dgram_check(server->in, news->length);
	switch (type) {
	case -1:
		return -1;
	case DGRAM_TEXT:
		return answer_text(server, news);
	case DGRAM_NUMBERED:
		counts_number(&server->counts, from, ntohl(server->in->number));
		return 0;
	case DGRAM_TOTAL:
		return answer_total(server, from);
	case DGRAM_ECHO:
		return send_bytes(server, from, server->in, news->length);
	case DGRAM_BORROW:
		return answer_borrow(server, from);
	case DGRAM_WRITTEN:
		return show_memory(server, from);
	case DGRAM_BYE:
		return answer_bye(server, from);
	default:
		return log_fail(
			"a datagram of type %d: a client's business, not a server's",
			type);
	}
}

/* Takes the next datagram, if there is one, and answers it. */
static int answer_next(struct server *server)
{
	struct rds_news news;

	if (!rds_recv(&server->rds, server->in, DGRAM_MAX, &news))
		return news.datagram ? answer(server, &news) : 0;
	/*
	 * The error may come again at once, as when the kernel has no memory;
	 * the pause leaves the processor to others.
	 */
	wait_readable(-1, -1, server->rds.patience.stop_fd,
		      wait_deadline(PAUSE_MS));
	return -1;
}

/* A loan has not been used in time, or could not even be sent. */
static int take_back(struct server *server, struct loan *loan)
{
	bool silent = silent_has(&server->silent, &loan->to);
	char text[IPV4_TEXT_SIZE];
	int ret = 0;

	ipv4_text(&loan->to, text);
	if (loan->sent) {
		log_line("taking back what %s port %d has not used in time.",
			 text, ntohs(loan->to.sin_port));
	} else if (!silent) {
		ret = log_fail(
			"a connection to %s over %s: nothing came within %d s; is the peer alive, and is -t long enough for it [docs/troubleshooting.md#silent]",
			text, rds_transport_name(server->rds.transport),
			options.seconds);
		silent_add(&server->silent, &server->rds, &loan->to);
	}
	/* If it fails, it says so: do not repeat that in a loop. */
	loan->until = INT64_MAX;
	return lend_end(&server->lend, loan) ? -1 : ret;
}

/* Takes one datagram after another until told to stop. */
static int serve(struct server *server)
{
	int64_t deaf_until = wait_deadline(options.deaf * 1000), deadline;
	int stop_fd = server->rds.patience.stop_fd, ret = 0;
	struct loan *loan;
	bool deaf;

	/* What fails is reported. With -1, there is nobody else to wait for. */
	while (!ret || (ret < 0 && !options.once)) {
		deaf = deaf_until > wait_deadline(0);
		loan = lend_first(&server->lend);
		deadline = deaf ? deaf_until : loan ? loan->until : INT64_MAX;
		if (wait_readable(deaf ? -1 : server->rds.fd, -1, stop_fd,
				  deadline) >= 0)
			ret = answer_next(server);
		else if (errno == ECANCELED)
			return 0;
		else if (errno != ETIMEDOUT)
			return log_fail_errno("poll", errno, "cannot go on");
		else if (!deaf)
			ret = take_back(server, loan);
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
	/* 2. Allocate memory for datagrams, and to lend; bind the socket. */
	if (server_open(&server))
		goto out;
	/* 3. Serve. */
	ret = serve(&server);
out:
	/* 4. Free everything. */
	server_close(&server);
	if (stop_fd >= 0)
		close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
