/*
 * session.c - the client's socket, and the servers that it talks to
 */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hints.h"
#include "ipv4.h"
#include "log.h"

/* Reads "HOST[:PORT],...". */
static int find_peers(struct session *session, const char *servers,
		      const char *port)
{
	char text[256];

	while (*servers) {
		size_t length = strcspn(servers, ",");

		if (session->peer_count == SESSION_PEERS)
			return log_fail("-a: at most %d servers",
					SESSION_PEERS);
		snprintf(text, sizeof(text), "%.*s", (int)length, servers);
		if (ipv4_lookup(text, port,
				&session->peers[session->peer_count++]))
			return -1;
		servers += length + (servers[length] == ',');
	}
	return session->peer_count ? 0 : log_fail("-a: an address is missing");
}

int session_open(struct session *session, const char *servers, const char *port,
		 const char *local, int transport)
{
	struct rds *rds = &session->rds;
	struct sockaddr_in from;
	char text[IPV4_TEXT_SIZE];
	int on = 1;

	session->in = malloc(DGRAM_MAX);
	session->out = malloc(DGRAM_MAX);
	if (!session->in || !session->out)
		return log_fail("no memory for two datagrams of %d bytes",
				DGRAM_MAX);
	/* From port 0: the kernel finds one. */
	if (find_peers(session, servers, port) ||
	    (local ? ipv4_lookup(local, "0", &from) :
		     ipv4_way_to(&session->peers[0], &from)) ||
	    rds_open(rds, &from, transport))
		return -1;
	log_line("bound to %s over %s.", ipv4_text(&from, text),
		 rds_transport_name(rds->transport));
	/* Without this we get only a hint when a congestion ends: see README. */
	return rds_set(rds, RDS_CONG_MONITOR, "RDS_CONG_MONITOR", &on,
		       sizeof(on));
}

void session_close(struct session *session)
{
	rds_close(&session->rds);
	free(session->in);
	free(session->out);
	session->in = session->out = NULL;
}

int64_t session_deadline(const struct session *session)
{
	return wait_deadline(session->rds.patience.timeout_ms);
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

int session_wait(struct session *session, const char *what, int64_t deadline,
		 struct rds_news *news)
{
	struct rds *rds = &session->rds;

	do {
		if (wait_readable(rds->fd, -1, rds->patience.stop_fd,
				  deadline) < 0)
			return wait_fail(what, errno, &rds->patience);
		if (rds_recv(rds, session->in, DGRAM_MAX, news))
			return -1;
	} while (!news->datagram && !news->ports && !news->completed);
	/* Whoever waits for something else must not lose this. */
	if (news->completed) {
		session->completed = true;
		session->status = news->completion.status;
	}
	return 0;
}

int session_wait_uncongested(struct session *session,
			     const struct sockaddr_in *peer, int64_t deadline)
{
	const char *what = "the end of a congestion";
	uint64_t mask = RDS_CONG_MONITOR_MASK(ntohs(peer->sin_port));
	struct rds_news news;

	do {
		if (session_wait(session, what, deadline, &news))
			return -1;
		if (news.datagram)
			ignore(session, what, &news.from);
	} while (!(news.ports & mask));
	return 0;
}

int session_send(struct session *session, const struct sockaddr_in *to,
		 const void *buf, size_t length,
		 const struct rds_control *control)
{
	int64_t deadline = session_deadline(session);
	struct rds *rds = &session->rds;

	while (rds_send(rds, to, buf, length, control)) {
		if (errno == ENOBUFS) {
			if (session_wait_uncongested(session, to, deadline))
				return -1;
		} else if (errno != EAGAIN) {
			return explain_send(to, length, errno);
		} else if (rds_wait_room(rds, deadline)) {
			return wait_fail("room in the send buffer", errno,
					 &rds->patience);
		}
	}
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

int session_expect(struct session *session, const struct sockaddr_in *peer,
		   enum dgram_type type, const char *what,
		   struct rds_news *news)
{
	int came;

	if (hear(session, peer, what, news))
		return -1;
	came = dgram_check(session->in, news->length);
	if (came >= 0 && came != (int)type)
		return log_fail("%s: a datagram of type %d came instead of %d",
				what, came, type);
	return came < 0 ? -1 : 0;
}

int session_ask(struct session *session, const struct sockaddr_in *peer,
		enum dgram_type type, const char *text, enum dgram_type answer,
		const char *what, struct rds_news *news)
{
	size_t length = dgram_text(session->out, type, text);

	if (session_send(session, peer, session->out, length, NULL))
		return -1;
	return session_expect(session, peer, answer, what, news);
}

/*
 * Port 0 belongs to the kernel, which answers with an empty datagram from port
 * 0. Over tcp, the two kernels agree before that answer on their number of
 * paths, and so on the one that our messages take; later messages may overtake
 * what was sent before that.
 */
int session_greet(struct session *session, const struct sockaddr_in *peer)
{
	struct sockaddr_in kernel = *peer;
	char text[IPV4_TEXT_SIZE];
	struct rds_news news;

	kernel.sin_port = 0;
	if (session_send(session, &kernel, NULL, 0, NULL) ||
	    hear(session, &kernel, "an answer of the other kernel", &news))
		return -1;
	log_line("%s is there.", ipv4_text(&kernel, text));
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

int session_greet_all(struct session *session)
{
	for (int i = 0; i < session->peer_count; i++)
		if (!known_host(session, i) &&
		    session_greet(session, &session->peers[i]))
			return -1;
	return 0;
}

int session_bye(struct session *session)
{
	struct rds_news news;

	/*
	 * Closing the socket throws away what is still queued. Once the answers
	 * are here, nothing is.
	 */
	for (int i = 0; i < session->peer_count; i++)
		if (session_ask(session, &session->peers[i], DGRAM_BYE, "",
				DGRAM_BYE, "a goodbye", &news))
			return -1;
	return 0;
}
