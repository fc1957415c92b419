/*
 * congest.c - a port that nobody reads: how a congestion begins, and ends
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "log.h"
#include "retry.h"
#include "work.h"

/* Sends numbered messages until the kernel refuses, for congestion. */
static int send_until_congested(struct session *session, unsigned int *sent)
{
	const struct patience *patience = session->patience;
	int64_t deadline = session_deadline(session);
	const struct sockaddr_in *to = &session->peers[0];
	size_t length = session->options->bytes;
	char *buf = session->out;

	memset(buf, 'x', length);
	for (*sent = 0; *sent < 1000000;) {
		if (session_go_on(session))
			return -1;
		dgram_header(buf, DGRAM_NUMBERED, *sent);
		if (!rds_send(&session->rds, to, buf, length, NULL)) {
			++*sent;
			continue;
		}
		if (errno == ENOBUFS)
			return 0;
		if (errno != EAGAIN)
			return rds_send_fail(errno, to, length);
		if (retry_wait(&session->rds, to, false, patience, deadline))
			return -1;
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

/* The kernel's own news, through recvmsg(2), without a datagram. */
static int wait_for_news(struct session *session, uint64_t mask)
{
	int64_t deadline = session_deadline(session);
	struct rds_news news;

	do {
		if (session_wait(session, "the end of the congestion", deadline,
				 &news))
			return -1;
	} while (!(news.ports & mask));
	log_line("news: group %d of the ports has room again.",
		 __builtin_ctzll(mask));
	return 0;
}

static int ask_total(struct session *session, unsigned int sent)
{
	const struct sockaddr_in *peer = &session->peers[0];
	struct rds_news news;
	struct dgram dgram;

	if (session_send_text(session, peer, DGRAM_TOTAL, "") ||
	    session_expect(session, peer, DGRAM_TOTAL, "the total", &dgram,
			   &news))
		return -1;
	log_line("%u were sent; the server has received:", sent);
	log_text("  ", dgram.text, dgram.length);
	return 0;
}

int work_congest(struct session *session)
{
	struct sockaddr_in control = session->peers[0];
	int port = ntohs(control.sin_port);
	unsigned int sent;

	control.sin_port = htons(port + 1);
	if (session->options->bytes > DGRAM_MAX)
		return log_fail("-s: at most %d here", DGRAM_MAX);
	if (port == 65535)
		return log_fail(
			"there is no port after 65535; choose one up to 65534 with -p, at the server as well");
	if (send_until_congested(session, &sent))
		return -1;
	log_line("ENOBUFS for port %d after %u messages.", port, sent);
	tell_poll(session);
	/* The port is congested, not the host. */
	if (session_send_text(session, &control, DGRAM_READ_ON, ""))
		return -1;
	log_line("port %d takes a message: read on.", port + 1);
	if (wait_for_news(session, RDS_CONG_MONITOR_MASK(port)))
		return -1;
	return ask_total(session, sent);
}
