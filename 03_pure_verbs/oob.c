/*
 * oob.c - out of band: what two sides say to each other before RDMA works
 *
 * Everything here goes over the wire in the clear, and only its form is
 * checked before it is believed: anyone between the two sides can read it
 * all, and change it.
 */
#include "oob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "line.h"
#include "log.h"
#include "sock.h"

#define HELLO "HELLO RDMA 1\n"
#define READY "READY\n"
#define BYE "BYE\n"

_Static_assert(PARAMS_MAX <= LINE_LONGEST, "a line can hold the parameters");

struct oob {
	struct line line; /* with a deadline for the whole exchange */
	bool broken; /* a listener that can take no more clients */
	struct sockaddr_storage local;
};

static struct oob *new_oob(void)
{
	struct oob *oob = calloc(1, sizeof(*oob));

	if (!oob)
		log_fail_errno("calloc", errno, "out of memory");
	else
		oob->line.fd = -1;
	return oob;
}

struct oob *oob_listen(const struct options *options)
{
	struct oob *oob = new_oob();

	if (!oob)
		return NULL;
	oob->line.fd = sock_listen(options->address, options->port);
	if (oob->line.fd < 0 || sock_local(oob->line.fd, &oob->local)) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

int oob_fd(const struct oob *oob)
{
	return oob->line.fd;
}

const struct sockaddr *oob_local(const struct oob *oob)
{
	return (const struct sockaddr *)&oob->local;
}

/* A connected socket, the address of this end, and the deadline. */
static int start(struct oob *oob, int fd, const struct patience *patience,
		 int64_t deadline)
{
	oob->line.fd = fd;
	oob->line.patience = *patience;
	oob->line.deadline = deadline;
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
	struct sockaddr_storage peer;
	int fd;

	if (!oob)
		return NULL;
	fd = sock_accept(listener->line.fd, &peer);
	listener->broken = fd == SOCK_BROKEN;
	if (start(oob, fd, patience, deadline) ||
	    line_send(&oob->line, HELLO, strlen(HELLO))) {
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
	int fd;

	if (!oob)
		return NULL;
	fd = sock_connect(options->address, options->port, patience, deadline);
	if (start(oob, fd, patience, deadline) ||
	    line_expect(&oob->line, HELLO, "hello")) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

int oob_send_params(struct oob *oob, const struct params *params)
{
	char wire[PARAMS_MAX];

	return line_send(&oob->line, wire, params_encode(params, wire));
}

int oob_recv_params(struct oob *oob, struct params *params, bool roce)
{
	if (line_recv(&oob->line, "the peer's parameters"))
		return -1;
	return params_decode(params, oob->line.text, oob->line.length, roce);
}

int oob_ready(struct oob *oob)
{
	if (line_send(&oob->line, READY, strlen(READY)))
		return -1;
	return line_expect(&oob->line, READY, "READY");
}

int oob_check(struct oob *oob)
{
	char byte;
	ssize_t n = recv(oob->line.fd, &byte, 1, MSG_PEEK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return OOB_THERE;
	/* Closed, reset or silent for too long. */
	if (n <= 0)
		return OOB_GONE;
	/* The exchange and its deadline are long over. */
	oob->line.deadline = wait_deadline(oob->line.patience.timeout_ms);
	return line_expect(&oob->line, BYE, "BYE") ? -1 : OOB_SAID_BYE;
}

int oob_bye(struct oob *oob)
{
	if (send(oob->line.fd, BYE, strlen(BYE), MSG_NOSIGNAL) >= 0 ||
	    errno == EPIPE || errno == ECONNRESET)
		return 0;
	return log_fail_errno("send", errno,
			      "the peer does not hear our goodbye");
}

void oob_close(struct oob *oob)
{
	if (!oob)
		return;
	if (oob->line.fd >= 0)
		close(oob->line.fd);
	free(oob);
}
