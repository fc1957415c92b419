/*
 * oob.c - out of band: the connections of the exchange
 *
 * Here, over TLS 1.3 with certificates on both sides. Who is between the two
 * sides can neither read the parameters nor change them, and who has no
 * certificate of our CA does not get as far as a queue pair.
 */
#include "oob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <netdb.h>
#include <netinet/in.h>

#include "log.h"
#include "oob_talk.h"
#include "sock.h"
#include "tls_fail.h"

/* Takes over ctx; NULL: the reason has been said. */
static struct oob *new_oob(SSL_CTX *ctx)
{
	struct oob *oob;

	if (!ctx)
		return NULL;
	oob = calloc(1, sizeof(*oob));
	if (!oob) {
		log_fail_errno("calloc", errno, "out of memory");
		SSL_CTX_free(ctx);
		return NULL;
	}
	oob->fd = -1;
	oob->ctx = ctx;
	return oob;
}

/* A connection that is to be made with what parent has. */
static struct oob *new_child(const struct oob *parent)
{
	if (SSL_CTX_up_ref(parent->ctx) != 1) {
		tls_fail("SSL_CTX_up_ref", "too many references");
		return NULL;
	}
	return new_oob(parent->ctx);
}

struct oob *oob_prepare(const struct options *options)
{
	return new_oob(tls_context(options, ROLE_CLIENT));
}

struct oob *oob_listen(const struct options *options)
{
	struct oob *oob = new_oob(tls_context(options, ROLE_SERVER));

	if (!oob)
		return NULL;
	oob->fd = sock_listen(options);
	if (oob->fd < 0 || sock_local(oob->fd, &oob->local)) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

void oob_stop(struct oob *listener)
{
	/* Not close(): the clients that are left still need its ctx. */
	shutdown(listener->fd, SHUT_RDWR);
}

int oob_fd(const struct oob *oob)
{
	return oob->fd;
}

const struct sockaddr *oob_local(const struct oob *oob)
{
	return (const struct sockaddr *)&oob->local;
}

/* A connected socket, its own address, and the deadline for all. */
static int start(struct oob *oob, int fd, const struct patience *patience,
		 int64_t deadline)
{
	oob->fd = fd;
	oob->limit = (struct tls_limit){ *patience, deadline };
	if (fd < 0)
		return -1;
	return sock_local(fd, &oob->local);
}

/* The TLS layer on the socket: verified, or nothing. */
static int secure(struct oob *oob, const char *server)
{
	oob->ssl = SSL_new(oob->ctx);
	if (!oob->ssl || SSL_set_fd(oob->ssl, oob->fd) != 1)
		return tls_fail("SSL_new", "out of memory");
	if (tls_expect_peer(oob->ssl, server, (struct sockaddr *)&oob->peer))
		return -1;
	if (server)
		SSL_set_connect_state(oob->ssl);
	else
		SSL_set_accept_state(oob->ssl);
	return tls_handshake(oob->ssl, &oob->limit);
}

struct oob *oob_accept(struct oob *listener, const struct patience *patience)
{
	int64_t deadline = wait_deadline(patience->timeout_ms);
	struct oob *oob = new_child(listener);

	if (!oob)
		return NULL;
	if (start(oob, sock_accept(listener->fd, &oob->peer), patience,
		  deadline)) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

int oob_handshake(struct oob *oob)
{
	return secure(oob, NULL);
}

struct oob *oob_connect(const struct oob *prepared,
			const struct options *options,
			const struct patience *patience, struct hello *hello)
{
	int64_t deadline = wait_deadline(patience->timeout_ms);
	struct oob *oob = new_child(prepared);

	if (!oob)
		return NULL;
	/*
	 * In TLS 1.3 a client's handshake is over before the server has looked
	 * at the client's certificate: a refusal comes with the first read. So
	 * the server speaks first, and we do nothing until it has.
	 */
	if (start(oob, sock_connect(options, patience, deadline), patience,
		  deadline) ||
	    sock_peer(oob->fd, &oob->peer) || secure(oob, options->address) ||
	    oob_recv_hello(oob, hello)) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

int oob_print_peer(const struct oob *oob)
{
	return tls_print_peer(oob->ssl);
}

void oob_peer_name(const struct oob *oob, char *text, size_t size)
{
	if (getnameinfo((const struct sockaddr *)&oob->peer, sizeof(oob->peer),
			text, size, NULL, 0, NI_NUMERICHOST))
		snprintf(text, size, "(unknown)");
}

void oob_close(struct oob *oob)
{
	if (!oob)
		return;
	SSL_free(oob->ssl);
	SSL_CTX_free(oob->ctx);
	if (oob->fd >= 0)
		close(oob->fd);
	free(oob);
}
