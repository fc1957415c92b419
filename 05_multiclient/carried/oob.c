/*
 * oob.c - out of band: what two sides say to each other before RDMA works
 *
 * Everything here goes over TLS 1.3, with certificates on both sides. Nobody between
 * the two sides can read the parameters or change them, and a peer without a
 * certificate from our CA gets no queue pair.
 */
#include "oob.h"

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
	listener->way = way;
	listener->ctx = tls_context(&way->files, true);
	if (!listener->ctx)
		return -1;
	return take(listener, sock_listen(way->address, way->port));
}

int oob_next(struct oob *listener, struct oob *client)
{
	int fd;

	*client = (struct oob){ .listener = listener };
	fd = sock_accept(listener->line.fd, &client->peer);
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

/* Both sides show who they are. name: the server's, if we are a client. */
static int shake_hands(struct oob *oob, SSL_CTX *ctx, const char *name)
{
	oob->line.ssl =
		tls_new(ctx, oob->line.fd, name, (struct sockaddr *)&oob->peer);
	return oob->line.ssl ? line_shake_hands(&oob->line) : -1;
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

int oob_accept(struct oob *oob, const struct patience *patience)
{
	const struct oob *listener = oob->listener;

	start(oob, patience);
	/* A stranger costs us nothing before it has sent a whole ClientHello. */
	if (client_hello_wait(oob->line.fd, patience, oob->line.deadline) ||
	    shake_hands(oob, listener->ctx, NULL) ||
	    check_list(oob->line.ssl, listener->way))
		return -1;
	return line_send(&oob->line, HELLO, strlen(HELLO));
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
				   oob->line.deadline)) ||
	    sock_peer(oob->line.fd, &oob->peer) ||
	    shake_hands(oob, oob->ctx, way->address))
		return -1;
	/*
	 * In TLS 1.3 a client's handshake is over before the server has looked
	 * at the client's certificate: a refusal comes with the first read. So
	 * the server speaks first, and we do nothing until it has.
	 */
	return line_expect(&oob->line, HELLO, "hello");
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
	char text[LINE_LONGEST];

	return line_send(&oob->line, text, params_encode(params, text));
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
	if (line_recv(&oob->line, "the peer's parameters") ||
	    params_decode(params, oob->line.text, roce))
		return -1;
	/* A LID says nothing about an IP address, so we cannot check it. */
	return roce ? check_address(oob, params) : 0;
}

int oob_ready(struct oob *oob)
{
	if (line_send(&oob->line, READY, strlen(READY)))
		return -1;
	if (line_expect(&oob->line, READY, "READY"))
		return -1;
	/*
	 * The rest of a record that OpenSSL has read makes no descriptor readable,
	 * so nobody would look at it. But the next word can only be a goodbye, and
	 * whoever says that has waited for more than our READY.
	 */
	if (SSL_pending(oob->line.ssl))
		return log_fail(
			"the peer sent something other than READY behind it, in the same record; is it another program");
	return 0;
}

int oob_check(struct oob *oob)
{
	int n;

	/* The peer has this long to finish what it has begun to say. */
	oob->line.deadline = wait_deadline(oob->line.patience.timeout_ms);
	n = line_look(&oob->line, &oob->peer_left);
	if (n <= 0)
		return n;
	oob->peer_done = !line_expect(&oob->line, BYE, "BYE");
	return oob->peer_done ? 0 : -1;
}

int oob_bye(struct oob *oob)
{
	SSL *ssl = oob->line.ssl;
	int n;

	ERR_clear_error();
	n = SSL_write(ssl, BYE, strlen(BYE));
	if (n <= 0 && !line_is_gone(&oob->line, n))
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
		SSL_shutdown(oob->line.ssl);
	ERR_clear_error();
	/* It fails if the peer has cut the connection. */
	if (oob->open)
		(void)shutdown(oob->line.fd, SHUT_WR);
}

void oob_close(struct oob *oob)
{
	SSL_free(oob->line.ssl);
	SSL_CTX_free(oob->ctx);
	if (oob->open)
		close(oob->line.fd);
	*oob = (struct oob){ 0 };
}
