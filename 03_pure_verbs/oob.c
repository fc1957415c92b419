/*
 * oob.c - out of band: what two sides say to each other before RDMA works
 *
 * Everything here goes over the wire in the clear, and only its form and its
 * ranges are checked before it is believed: anyone between the two sides can read
 * it all, and change it.
 */
#include "oob.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "log.h"
#include "sock.h"

#define HELLO "HELLO RDMA 1\n"
#define READY "READY\n"
#define BYE "BYE\n"

/* The socket is ours from now on, if there is one. */
static int take(struct oob *oob, int fd)
{
	if (fd < 0)
		return -1;
	oob->open = true;
	oob->line.fd = fd;
	return sock_local(fd, &oob->local);
}

int oob_listen(struct oob *listener, const struct oob_way *way)
{
	return take(listener, sock_listen(way->address, way->port));
}

int oob_next(struct oob *listener, struct oob *client)
{
	struct sockaddr_storage peer;
	int fd;

	*client = (struct oob){ 0 };
	fd = sock_accept(listener->line.fd, &peer);
	if (fd == SOCK_BROKEN)
		return -1;
	if (!take(client, fd))
		return 1;
	oob_close(client);
	return 0;
}

/* From now on, there is a deadline. */
static void start(struct oob *oob, const struct patience *patience)
{
	oob->line.patience = *patience;
	oob->line.deadline = wait_deadline(patience->timeout_ms);
}

int oob_accept(struct oob *oob, const struct patience *patience)
{
	start(oob, patience);
	return line_send(&oob->line, HELLO, strlen(HELLO));
}

int oob_connect(struct oob *oob, const struct oob_way *way,
		const struct patience *patience)
{
	start(oob, patience);
	if (take(oob, sock_connect(way->address, way->port, patience,
				   oob->line.deadline)))
		return -1;
	return line_expect(&oob->line, HELLO, "hello");
}

int oob_draw_psn(uint32_t *psn)
{
	uint8_t bytes[3];

	/* getrandom(2) gives this few bytes all at once or not at all. */
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return log_fail_errno("getrandom", errno,
				      "no PSN without it; give one with -P");
	*psn = bytes[0] << 16 | bytes[1] << 8 | bytes[2];
	return 0;
}

int oob_send_params(struct oob *oob, const struct params *params)
{
	char text[LINE_LONGEST];

	return line_send(&oob->line, text, params_encode(params, text));
}

int oob_recv_params(struct oob *oob, struct params *params, bool roce)
{
	if (line_recv(&oob->line, "the peer's parameters"))
		return -1;
	return params_decode(params, oob->line.text, roce);
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
		return 0;
	if (n < 0 && !sock_is_gone(errno))
		return log_fail_errno("recv", errno, "no news of the peer");
	oob->peer_left = n <= 0;
	if (oob->peer_left)
		return 0;
	/* The exchange and its deadline are long over. */
	oob->line.deadline = wait_deadline(oob->line.patience.timeout_ms);
	oob->peer_done = !line_expect(&oob->line, BYE, "BYE");
	return oob->peer_done ? 0 : -1;
}

int oob_bye(struct oob *oob)
{
	if (send(oob->line.fd, BYE, strlen(BYE), MSG_NOSIGNAL) >= 0 ||
	    sock_is_gone(errno))
		return 0;
	return log_fail_errno("send", errno,
			      "the peer does not hear our goodbye");
}

void oob_end(struct oob *oob)
{
	/* It fails if the peer has cut the connection. */
	if (oob->open)
		(void)shutdown(oob->line.fd, SHUT_WR);
}

void oob_close(struct oob *oob)
{
	if (oob->open)
		close(oob->line.fd);
	*oob = (struct oob){ 0 };
}
