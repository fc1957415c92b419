/*
 * fill.c - a peer that does not answer: a full send buffer, RDS_CANCEL_SENT_TO
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "ipv4.h"
#include "info.h"
#include "log.h"
#include "work.h"

/* Whether poll(2) says POLLOUT now. */
static const char *writable(struct session *session)
{
	struct pollfd fd = { .fd = session->rds.fd, .events = POLLOUT };

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLOUT ? "yes" : "no";
}

/* Sends until the kernel takes no more; only EAGAIN is the right errno. */
static int send_until_full(struct session *session,
			   const struct sockaddr_in *to, unsigned int *sent)
{
	size_t length = session->options->bytes;
	char *buf = session->out;

	memset(buf, 'x', length);
	for (*sent = 0; *sent < 1000000; ++*sent) {
		if (session_go_on(session))
			return -1;
		dgram_header(buf, DGRAM_NUMBERED, *sent);
		if (!rds_send(&session->rds, to, buf, length, NULL))
			continue;
		if (errno == EAGAIN)
			return 0;
		return rds_send_fail(errno, to, length);
	}
	return log_fail(
		"%u messages, and the buffer is not full: the peer takes them; give an address that nobody has",
		*sent);
}

static int tell_queue(struct session *session)
{
	struct info_queue queue;
	int ret = info_queue(&session->rds, &queue);

	if (ret == 0)
		log_line("messages queued: %zu; POLLOUT: %s.", queue.count,
			 writable(session));
	free(queue.messages);
	return ret;
}

int work_fill(struct session *session)
{
	const struct sockaddr_in *to = &session->peers[0];
	size_t length = session->options->bytes;
	long room = rds_send_room(&session->rds);
	char text[IPV4_TEXT_SIZE];
	unsigned int sent;

	if (room < 0)
		return -1;
	if (length > DGRAM_MAX)
		return rds_send(&session->rds, to, session->out, length, NULL) ?
			       rds_send_fail(errno, to, length) :
			       log_fail("more than 1 MiB was taken");
	log_line("the send buffer has %ld bytes.", room);
	if (send_until_full(session, to, &sent))
		return -1;
	log_line("EAGAIN after %u messages of %zu bytes to %s: %zu bytes.",
		 sent, length, ipv4_text(to, text), sent * length);
	if (tell_queue(session))
		return -1;
	/* To any peer: the buffer belongs to the socket. */
	if (rds_send(&session->rds, &session->rds.local, session->out, length,
		     NULL) == 0 ||
	    errno != EAGAIN)
		return log_fail("a full buffer took a message to another peer");
	log_line("EAGAIN for a message to ourselves, too.");
	if (rds_set(&session->rds, RDS_CANCEL_SENT_TO, "RDS_CANCEL_SENT_TO", to,
		    sizeof(*to)))
		return -1;
	log_line("RDS_CANCEL_SENT_TO %s port %d.", text, ntohs(to->sin_port));
	return tell_queue(session);
}
