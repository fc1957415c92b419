/*
 * oob.c - out of band: what two sides say to each other before RDMA works
 *
 * Everything here goes over TLS 1.3, with certificates on both sides. Nobody between
 * the two sides can read the parameters or change them, and a peer without a
 * certificate from our CA gets no queue pair.
 */
#include "oob.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/rand.h>

#include "client_hello.h"
#include "gid.h"
#include "log.h"
#include "sock.h"
#include "tls_fail.h"
#include "who.h"

/* Raise it with every change to the line of parameters. */
#define VERSION 1

#define HELLO "HELLO RDMA 1\n"
#define READY "READY\n"
#define BYE "BYE\n"

/* ---- The line of parameters ---- */

static const char
	*const modes[] = { [MODE_WRITE] = "write", [MODE_READ] = "read" };

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

/* ---- Lines over TLS ---- */

int oob_send_line(struct oob *oob, const char *line, size_t length)
{
	/* In one piece, so that an observer sees one record. */
	return tls_write(&oob->tls, line, length);
}

int oob_recv_line(struct oob *oob, char line[LINE_LONGEST + 1],
		  const char *what, size_t *length)
{
	*length = 0;
	do {
		if (*length == LINE_LONGEST)
			return log_fail(
				"the peer's line has more than %d bytes; is it another program",
				LINE_LONGEST);
		if (tls_read(&oob->tls, &line[*length], what))
			return -1;
	} while (line[(*length)++] != '\n');
	line[*length] = 0;
	return 0;
}

/* Reads a line that must be text. */
static int expect_line(struct oob *oob, const char *text, const char *what)
{
	char line[LINE_LONGEST + 1];
	size_t length;

	if (oob_recv_line(oob, line, what, &length))
		return -1;
	if (strcmp(line, text))
		return log_fail(
			"the peer sent something other than %s; is it another program, or another version",
			what);
	return 0;
}

/* ---- The conversation ---- */

int oob_fd(const struct oob *oob)
{
	return oob->fd;
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
	oob->fd = fd;
	return sock_local(fd, &oob->local);
}

int oob_listen(struct oob *listener, const struct oob_way *way)
{
	listener->way = way;
	listener->ctx = tls_context(&way->files, true);
	if (!listener->ctx)
		return -1;
	return take(listener, sock_listen(way->address, way->port));
}

int oob_next(struct oob *listener, struct oob *client)
{
	int fd;

	*client = (struct oob){ 0 };
	fd = sock_accept(listener->fd, &client->peer);
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
	oob->tls.patience = *patience;
	oob->tls.deadline = wait_deadline(patience->timeout_ms);
}

/* TLS has shown who the client is. Whether it may come is another question. */
static int check_list(SSL *ssl, const struct oob_way *way)
{
	struct who who;

	if (!way->list)
		return 0;
	if (!who_is(&who, SSL_get0_peer_certificate(ssl)) &&
	    !who_may(&who, way->list, way->word))
		return 0;
	/* Without this, the client could not tell a refusal from a failure. */
	SSL_shutdown(ssl);
	return -1;
}

int oob_accept(struct oob *oob, const struct oob *listener,
	       const struct patience *patience)
{
	start(oob, patience);
	/* A stranger costs us nothing before it has sent a whole ClientHello. */
	if (client_hello_wait(oob->fd, patience, oob->tls.deadline))
		return -1;
	if (tls_handshake(&oob->tls, listener->ctx, oob->fd, NULL,
			  (struct sockaddr *)&oob->peer))
		return -1;
	if (check_list(oob->tls.ssl, listener->way))
		return -1;
	return oob_send_line(oob, HELLO, strlen(HELLO));
}

int oob_connect(struct oob *oob, const struct oob_way *way,
		const struct patience *patience)
{
	oob->ctx = tls_context(&way->files, false);
	if (!oob->ctx)
		return -1;
	/* From here on, we wait for the peer. */
	start(oob, patience);
	if (take(oob, sock_connect(way->address, way->port, patience,
				   oob->tls.deadline)) ||
	    sock_peer(oob->fd, &oob->peer))
		return -1;
	if (tls_handshake(&oob->tls, oob->ctx, oob->fd, way->address,
			  (struct sockaddr *)&oob->peer))
		return -1;
	/*
	 * In TLS 1.3 a client's handshake is over before the server has looked
	 * at the client's certificate: a refusal comes with the first read. So
	 * the server speaks first, and we do nothing until it has.
	 */
	return expect_line(oob, HELLO, "hello");
}

int oob_draw_psn(uint32_t *psn)
{
	uint8_t bytes[3];

	/* 1 is success; 0 and -1 are failures, and give no number. */
	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return tls_fail("RAND_bytes",
				"no PSN without it; give one with -P");
	/* Use all 24 bits, so that every value is equally likely. */
	*psn = bytes[0] << 16 | bytes[1] << 8 | bytes[2];
	return 0;
}

int oob_send_params(struct oob *oob, const struct params *params)
{
	char line[LINE_LONGEST];

	return oob_send_line(oob, line, oob_encode(params, line));
}

/*
 * The certificate proved who is at that address, so the queue pair must live
 * there, too: otherwise a client could have us send to somebody else.
 */
static int check_address(const struct oob *oob, const struct params *params)
{
	union ibv_gid gid;

	gid_of((const struct sockaddr *)&oob->peer, &gid);
	if (memcmp(&gid, &params->gid, sizeof(gid)))
		return log_fail(
			"the peer's GID is not the address that it was authenticated at: refused; is -g given");
	return 0;
}

int oob_recv_params(struct oob *oob, struct params *params, bool roce)
{
	char line[LINE_LONGEST + 1];
	size_t length;

	if (oob_recv_line(oob, line, "the peer's parameters", &length))
		return -1;
	if (oob_decode(params, line, length) || params_check(params, roce))
		return -1;
	/* A LID says nothing about an IP address, so we cannot check it. */
	return roce ? check_address(oob, params) : 0;
}

int oob_ready(struct oob *oob)
{
	if (oob_send_line(oob, READY, strlen(READY)) ||
	    expect_line(oob, READY, "READY"))
		return -1;
	/*
	 * The rest of a record that OpenSSL has read makes no descriptor readable,
	 * so nobody would look at it. But the next word can only be a goodbye, and
	 * whoever says that has waited for more than our READY.
	 */
	if (SSL_pending(oob->tls.ssl))
		return log_fail(
			"the peer sent something other than READY behind it, in the same record; is it another program");
	return 0;
}

int oob_check(struct oob *oob)
{
	/* The peer has this long to finish what it has begun to say. */
	oob->tls.deadline = wait_deadline(oob->tls.patience.timeout_ms);
	switch (tls_look(&oob->tls)) {
	case TLS_BYTES:
		return expect_line(oob, BYE, "BYE") ? -1 : OOB_SAID_BYE;
	case TLS_NOTHING:
		return OOB_THERE;
	case TLS_GONE:
		return OOB_GONE;
	default:
		return -1;
	}
}

int oob_bye(struct oob *oob)
{
	SSL *ssl = oob->tls.ssl;
	int n;

	ERR_clear_error();
	n = SSL_write(ssl, BYE, strlen(BYE));
	if (n <= 0 && !tls_is_gone(&oob->tls, n))
		return tls_fail_ssl(ssl, "SSL_write");
	ERR_clear_error();
	oob->said_bye = n > 0;
	return 0;
}

void oob_end(struct oob *oob)
{
	/*
	 * TLS's own goodbye, close_notify, waits until here. Right behind our BYE,
	 * it could still be unread when the peer closes its socket: that resets
	 * the connection, and a lost packet, such as the peer's BYE, is not sent
	 * again.
	 */
	if (oob->said_bye)
		SSL_shutdown(oob->tls.ssl);
	ERR_clear_error();
	/* It fails if the peer has cut the connection. */
	if (oob->open)
		(void)shutdown(oob->fd, SHUT_WR);
}

void oob_close(struct oob *oob)
{
	SSL_free(oob->tls.ssl);
	SSL_CTX_free(oob->ctx);
	if (oob->open)
		close(oob->fd);
	*oob = (struct oob){ 0 };
}
