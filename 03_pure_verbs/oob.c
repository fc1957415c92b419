/*
 * oob.c - out of band: what two sides say to each other before RDMA works
 *
 * Everything here goes over the wire in the clear, and only its form and its
 * ranges are checked before it is believed: anyone between the two sides can read
 * it all, and change it.
 */
#include "oob.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "log.h"
#include "sock.h"

/* Raise it with every change to the line of parameters. */
#define VERSION 1

#define HELLO "HELLO RDMA 1\n"
#define READY "READY\n"
#define BYE "BYE\n"

/* ---- The line of parameters ---- */

static const char *const modes[] = {
	[MODE_WRITE] = "write",
	[MODE_READ] = "read",
};

/*
 * A line that a person can read, on a terminal or in a capture:
 *
 *   RDMA 1 QPN 0x000011 PSN 0x123456 GID ::ffff:192.0.2.1 LID 0x0000 MTU 1024
 *   MODE write ADDR 0x55d0c0ffee00 RKEY 0x000007f1 LENGTH 1024
 *
 * but on one line, with a newline at the end.
 */
size_t oob_encode(const struct params *params, char line[LINE_LONGEST])
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, params->gid.raw, gid, sizeof(gid));
	return snprintf(line, LINE_LONGEST,
			"RDMA %d QPN 0x%06" PRIx32 " PSN 0x%06" PRIx32
			" GID %s LID 0x%04" PRIx16
			" MTU %d MODE %s ADDR 0x%" PRIx64 " RKEY 0x%08" PRIx32
			" LENGTH %" PRIu32 "\n",
			VERSION, params->qpn, params->psn, gid, params->lid,
			params_mtu_bytes(params->mtu), modes[params->mode],
			params->mem.addr, params->mem.rkey, params->mem.length);
}

/* The MTU of so many bytes; 0 if there is none. */
static enum ibv_mtu mtu_from_bytes(int bytes)
{
	for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++)
		if (params_mtu_bytes(mtu) == bytes)
			return mtu;
	return 0;
}

/*
 * Splits the line into fields; returns whether it had exactly our form.
 * sscanf(3) is lenient (it takes signs and more spaces), so what it found must
 * give the same line.
 */
static bool scan(struct params *params, const char *line)
{
	char gid[INET6_ADDRSTRLEN], mode[16], again[LINE_LONGEST];
	int mtu;

	if (sscanf(line,
		   "RDMA %*d QPN 0x%8" SCNx32 " PSN 0x%8" SCNx32
		   " GID %45[0-9a-f:.] LID 0x%4" SCNx16
		   " MTU %4d MODE %15[a-z] ADDR 0x%16" SCNx64
		   " RKEY 0x%8" SCNx32 " LENGTH %10" SCNu32,
		   &params->qpn, &params->psn, gid, &params->lid, &mtu, mode,
		   &params->mem.addr, &params->mem.rkey,
		   &params->mem.length) != 9)
		return false;
	params->mtu = mtu_from_bytes(mtu);
	/* If it is neither, it differs from what we encode. */
	params->mode = strcmp(mode, modes[MODE_READ]) ? MODE_WRITE : MODE_READ;
	if (!params->mtu || inet_pton(AF_INET6, gid, params->gid.raw) != 1)
		return false;
	oob_encode(params, again);
	return !strcmp(again, line);
}

int oob_decode(struct params *params, const char *line, size_t length)
{
	char text[LINE_LONGEST + 1];
	int version;

	/* A zero inside would hide the rest of the line from scan(). */
	if (length > LINE_LONGEST || memchr(line, 0, length))
		return log_fail("the peer's line is not text: refused");
	memcpy(text, line, length);
	text[length] = 0;
	if (sscanf(text, "RDMA %9d ", &version) != 1)
		return log_fail(
			"the peer's line does not begin with RDMA and a version; is it another program [docs/troubleshooting.md#refused]");
	if (version != VERSION)
		return log_fail(
			"the peer speaks version %d, this program version %d; build both from the same source [docs/troubleshooting.md#refused]",
			version, VERSION);
	*params = (struct params){ 0 };
	if (!scan(params, text))
		return log_fail(
			"the peer's line does not have the form of oob.c: refused");
	return 0;
}

/* ---- The conversation ---- */

int oob_fd(const struct oob *oob)
{
	return oob->line.fd;
}

const struct sockaddr *oob_local(const struct oob *oob)
{
	return (const struct sockaddr *)&oob->local;
}

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
	int fd = sock_accept(listener->line.fd, &peer);

	*client = (struct oob){ 0 };
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

int oob_accept(struct oob *oob, const struct oob *listener,
	       const struct patience *patience)
{
	(void)listener;
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

	return line_send(&oob->line, text, oob_encode(params, text));
}

int oob_recv_params(struct oob *oob, struct params *params, bool roce)
{
	if (line_recv(&oob->line, "the peer's parameters"))
		return -1;
	if (oob_decode(params, oob->line.text, oob->line.length))
		return -1;
	return params_check(params, roce);
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
	if (n < 0 && !sock_is_gone(errno))
		return log_fail_errno("recv", errno, "no news of the peer");
	if (n <= 0)
		return OOB_GONE;
	/* The exchange and its deadline are long over. */
	oob->line.deadline = wait_deadline(oob->line.patience.timeout_ms);
	return line_expect(&oob->line, BYE, "BYE") ? -1 : OOB_SAID_BYE;
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
