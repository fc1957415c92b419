/*
 * session.c - the client's socket, and the servers that it talks to
 */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "ipv4.h"
#include "log.h"
#include "retry.h"

static int find_local(struct session *session, struct sockaddr_in *local)
{
	const struct options *options = session->options;

	/* Port 0: the kernel finds one. */
	if (options->local)
		return ipv4_lookup(options->local, "0", local);
	return ipv4_way_to(&session->peers[0], local);
}

/* Without this we get only a hint when a congestion ends: see README. */
static int monitor_congestion(struct session *session)
{
	int on = 1;

	return rds_set(&session->rds, RDS_CONG_MONITOR, "RDS_CONG_MONITOR", &on,
		       sizeof(on));
}

int session_open(struct session *session, const struct options *options,
		 const struct patience *patience)
{
	char text[IPV4_TEXT_SIZE];
	struct sockaddr_in local;

	*session = (struct session){
		.rds.fd = -1,
		.peer_count = options->address_count,
		.options = options,
		.patience = patience,
	};
	session->buf = malloc(DGRAM_MAX);
	session->out = malloc(DGRAM_MAX);
	if (!session->buf || !session->out)
		return log_fail("no memory for two datagrams of %d bytes",
				DGRAM_MAX);
	for (int i = 0; i < session->peer_count; i++)
		if (ipv4_lookup(options->addresses[i], options->port,
				&session->peers[i]))
			return -1;
	if (find_local(session, &local) ||
	    rds_open(&session->rds, &local, options->transport))
		return -1;
	log_line("bound to %s over %s.", ipv4_text(&local, text),
		 rds_transport_name(session->rds.transport));
	return monitor_congestion(session);
}

void session_close(struct session *session)
{
	rds_close(&session->rds);
	free(session->buf);
	free(session->out);
	session->buf = session->out = NULL;
}

int64_t session_deadline(const struct session *session)
{
	return wait_deadline(session->patience->timeout_ms);
}

int session_go_on(struct session *session)
{
	struct pollfd fd = {
		.fd = session->patience->stop_fd,
		.events = POLLIN,
	};

	/* Not each time: a system call for each message would cost too much. */
	if (++session->sends % 64 || poll(&fd, 1, 0) <= 0)
		return 0;
	return wait_fail("sending", ECANCELED, session->patience);
}

/* This may be anybody, so do not fail, and report it only once. */
static void ignore(struct session *session, const char *what,
		   const struct sockaddr_in *from)
{
	char text[IPV4_TEXT_SIZE];

	if (!session->told)
		log_fail(
			"%s: %s port %d has sent something unasked; it is ignored, and so is what others send",
			what, ipv4_text(from, text), ntohs(from->sin_port));
	session->told = true;
}

/* Waits for the end of the congestion of a peer's port. */
static int wait_uncongested(struct session *session,
			    const struct sockaddr_in *to, int64_t deadline)
{
	uint64_t mask = RDS_CONG_MONITOR_MASK(ntohs(to->sin_port));
	struct rds_news news;

	do {
		if (session_wait(session, "the end of a congestion", deadline,
				 &news))
			return -1;
		if (news.datagram)
			ignore(session, "the end of a congestion", &news.from);
	} while (!(news.ports & mask));
	return 0;
}

int session_send(struct session *session, const struct sockaddr_in *to,
		 const void *buf, size_t length,
		 const struct rds_control *control)
{
	const struct patience *patience = session->patience;
	int64_t deadline = session_deadline(session);

	if (session_go_on(session))
		return -1;
	while (rds_send(&session->rds, to, buf, length, control)) {
		if (errno == ENOBUFS) {
			if (wait_uncongested(session, to, deadline))
				return -1;
		} else if (errno != EAGAIN) {
			return rds_send_fail(errno, to, length);
		} else if (retry_wait(&session->rds, to, false, patience,
				      deadline)) {
			return -1;
		}
	}
	return 0;
}

int session_send_text(struct session *session, const struct sockaddr_in *to,
		      enum dgram_type type, const char *text)
{
	char buf[DGRAM_HEADER + DGRAM_TEXT_MAX];
	struct dgram dgram = {
		.type = type,
		.text = text,
		.length = strlen(text),
	};

	return session_send(session, to, buf, dgram_encode(buf, &dgram), NULL);
}

int session_wait(struct session *session, const char *what, int64_t deadline,
		 struct rds_news *news)
{
	const struct patience *patience = session->patience;

	do {
		if (wait_readable(session->rds.fd, -1, patience->stop_fd,
				  deadline) < 0)
			return wait_fail(what, errno, patience);
		if (rds_recv(&session->rds, session->buf, DGRAM_MAX, news))
			return -1;
	} while (!news->datagram && !news->ports && !news->completed);
	return 0;
}

/* Waits for a datagram from one address and port. */
static int hear(struct session *session, const struct sockaddr_in *from,
		const char *what, struct rds_news *news)
{
	int64_t deadline = session_deadline(session);

	while (session_wait(session, what, deadline, news) == 0) {
		/* Nobody waits here for a congestion to end. */
		if (!news->datagram)
			continue;
		if (ipv4_same(&news->from, from))
			return 0;
		ignore(session, what, &news->from);
	}
	return -1;
}

int session_expect(struct session *session, const struct sockaddr_in *from,
		   enum dgram_type type, const char *what, struct dgram *dgram,
		   struct rds_news *news)
{
	if (hear(session, from, what, news))
		return -1;
	if (dgram_decode(dgram, session->buf, news->length))
		return -1;
	if (dgram->type != type)
		return log_fail("%s: a datagram of type %d came instead of %d",
				what, dgram->type, type);
	return 0;
}

/*
 * Port 0 belongs to the kernel, which answers with an empty datagram from port
 * 0. Over tcp, the two kernels agree before that answer on their number of
 * paths, and so on the one that our messages take; later messages may overtake
 * what was sent before that.
 */
static int greet_host(struct session *session, const struct sockaddr_in *peer)
{
	struct sockaddr_in kernel = *peer;
	char text[IPV4_TEXT_SIZE];
	struct rds_news news;

	kernel.sin_port = 0;
	ipv4_text(&kernel, text);
	if (session_send(session, &kernel, NULL, 0, NULL))
		return -1;
	if (hear(session, &kernel, "an answer of the other kernel", &news))
		return -1;
	log_line("%s is there.", text);
	return 0;
}

/* Whether an earlier server is on the same host. */
static bool known_host(const struct session *session, int i)
{
	for (int j = 0; j < i; j++)
		if (session->peers[j].sin_addr.s_addr ==
		    session->peers[i].sin_addr.s_addr)
			return true;
	return false;
}

int session_greet(struct session *session)
{
	for (int i = 0; i < session->peer_count; i++)
		if (!known_host(session, i) &&
		    greet_host(session, &session->peers[i]))
			return -1;
	return 0;
}

int session_bye(struct session *session)
{
	struct rds_news news;
	struct dgram dgram;

	/*
	 * Closing the socket throws away what is still queued. Once the answers
	 * are here, nothing is.
	 */
	for (int i = 0; i < session->peer_count; i++)
		if (session_send_text(session, &session->peers[i], DGRAM_BYE,
				      "") ||
		    session_expect(session, &session->peers[i], DGRAM_BYE,
				   "a goodbye", &dgram, &news))
			return -1;
	return 0;
}
