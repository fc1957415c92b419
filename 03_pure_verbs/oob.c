/*
 * oob.c - out of band: what two sides say to each other before RDMA works
 *
 * Everything here goes over the wire in the clear, and is believed after no
 * more than a check of its form: whoever is between the two sides can read
 * it all, and change it.
 */
#include "oob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "sock.h"

#define HELLO "HELLO RDMA 1\n"
#define READY "READY\n"
#define BYE "BYE\n"

struct oob {
	int fd;
	bool broken; /* a listener that can take no more clients */
	struct patience patience;
	int64_t deadline; /* for the whole exchange */
	struct sockaddr_storage local;
	char line[PARAMS_MAX + 1]; /* what has come of the next line */
	size_t length;
};

static struct oob *new_oob(void)
{
	struct oob *oob = calloc(1, sizeof(*oob));

	if (!oob)
		log_fail_errno("calloc", errno, "out of memory");
	else
		oob->fd = -1;
	return oob;
}

struct oob *oob_listen(const struct options *options)
{
	struct oob *oob = new_oob();

	if (!oob)
		return NULL;
	oob->fd = sock_listen(options);
	if (oob->fd < 0 || sock_local(oob->fd, &oob->local)) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

int oob_fd(const struct oob *oob)
{
	return oob->fd;
}

const struct sockaddr *oob_local(const struct oob *oob)
{
	return (const struct sockaddr *)&oob->local;
}

/* Sends all of the bytes, however many pieces the socket takes them in. */
static int send_all(struct oob *oob, const char *bytes, size_t length)
{
	while (length) {
		/* A peer that is gone must be an error here, not a signal. */
		ssize_t n = send(oob->fd, bytes, length, MSG_NOSIGNAL);

		if (n >= 0) {
			bytes += n;
			length -= n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return log_fail_errno("send", errno,
					      "the peer is gone; see what it "
					      "says");
		if (wait_writable(oob->fd, oob->patience.stop_fd,
				  oob->deadline))
			return wait_fail("room to send to the peer", errno,
					 &oob->patience);
	}
	return 0;
}

/* Reads one byte: a line must not take with it what comes after it. */
static int recv_byte(struct oob *oob, const char *what, char *byte)
{
	ssize_t n;

	while ((n = recv(oob->fd, byte, 1, 0)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return log_fail_errno("recv", errno,
					      "while waiting for %s", what);
		if (wait_readable(oob->fd, -1, oob->patience.stop_fd,
				  oob->deadline) < 0)
			return wait_fail(what, errno, &oob->patience);
	}
	if (n == 0)
		return log_fail("the peer closed the connection instead of "
				"sending %s; see what it says"
				" [docs/troubleshooting.md#left]",
				what);
	return 0;
}

/*
 * Reads a whole line into oob->line, in as many pieces as it comes. Never
 * more than fits: a peer may send without end.
 */
static int recv_line(struct oob *oob, const char *what)
{
	oob->length = 0;
	do {
		if (oob->length == PARAMS_MAX)
			return log_fail("the peer's line has more than %d "
					"bytes; is it another program",
					PARAMS_MAX);
		if (recv_byte(oob, what, &oob->line[oob->length]))
			return -1;
	} while (oob->line[oob->length++] != '\n');
	oob->line[oob->length] = 0;
	return 0;
}

/* Reads a line that must be exactly this one. */
static int expect(struct oob *oob, const char *line, const char *what)
{
	if (recv_line(oob, what))
		return -1;
	if (strcmp(oob->line, line))
		return log_fail("the peer sent something else than %s; is it "
				"another program, or another version",
				what);
	return 0;
}

/* A connected socket, the address of this end, and the deadline for all. */
static int start(struct oob *oob, int fd, const struct patience *patience,
		 int64_t deadline)
{
	oob->fd = fd;
	oob->patience = *patience;
	oob->deadline = deadline;
	return fd < 0 ? -1 : sock_local(fd, &oob->local);
}

bool oob_is_broken(const struct oob *listener)
{
	return listener->broken;
}

struct oob *oob_accept(struct oob *listener, const struct patience *patience)
{
	int64_t deadline = wait_deadline(patience->timeout_ms);
	struct oob *oob = new_oob();
	int fd;

	if (!oob)
		return NULL;
	fd = sock_accept(listener->fd);
	listener->broken = fd == SOCK_BROKEN;
	if (start(oob, fd, patience, deadline) ||
	    send_all(oob, HELLO, strlen(HELLO))) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

struct oob *oob_connect(const struct options *options,
			const struct patience *patience)
{
	int64_t deadline = wait_deadline(patience->timeout_ms);
	struct oob *oob = new_oob();

	if (!oob)
		return NULL;
	if (start(oob, sock_connect(options, patience, deadline), patience,
		  deadline) ||
	    expect(oob, HELLO, "hello")) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

int oob_send_params(struct oob *oob, const struct params *params)
{
	char wire[PARAMS_MAX];

	return send_all(oob, wire, params_encode(params, wire));
}

int oob_recv_params(struct oob *oob, struct params *params, bool roce)
{
	if (recv_line(oob, "the peer's parameters"))
		return -1;
	return params_decode(params, oob->line, oob->length, roce);
}

int oob_ready(struct oob *oob)
{
	if (send_all(oob, READY, strlen(READY)))
		return -1;
	return expect(oob, READY, "READY");
}

int oob_check(struct oob *oob)
{
	char byte;
	ssize_t n = recv(oob->fd, &byte, 1, MSG_PEEK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return OOB_THERE;
	/* Closed, reset or silent for too long. */
	if (n <= 0)
		return OOB_GONE;
	/* The exchange is long over, and its deadline too. */
	oob->deadline = wait_deadline(oob->patience.timeout_ms);
	return expect(oob, BYE, "BYE") ? -1 : OOB_SAID_BYE;
}

void oob_bye(struct oob *oob)
{
	ssize_t n = send(oob->fd, BYE, strlen(BYE), MSG_NOSIGNAL);

	(void)n;
}

void oob_close(struct oob *oob)
{
	if (!oob)
		return;
	if (oob->fd >= 0)
		close(oob->fd);
	free(oob);
}
