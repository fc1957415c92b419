/*
 * tls_test.h - whom a chapter's TLS lets in, and how long it talks
 *
 * Included by a test of each chapter that has TLS: what is asked of one of them
 * is asked of all. One end is the chapter's code; the other is a peer that
 * shows whatever certificate it likes, checks none, and may be hostile. The
 * system's openssl.cnf is the worst that it can be.
 */
#ifndef TLS_TEST_H
#define TLS_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "test.h"
#include <openssl/err.h>

#include "options.h"
#include "tls.h"
#include "tls_fail.h"
#include "tls_io.h"
#include "tls_certs.h"

/* How the peer is reached, or where it comes from: 192.0.2.1. */
static const struct sockaddr_in from = {
	.sin_family = AF_INET,
	.sin_addr.s_addr = 0x010200c0,
};

static struct cert ca, other_ca;

/* The end that is not under test. */
struct peer {
	int fd;
	bool server;
	const struct cert *cert; /* NULL: none */
	const struct cert *chain[3]; /* sent with it */
	int max_version; /* 0: TLS 1.3 */
	const char *suites, *groups, *alpn;
	int tickets; /* a server's */
	int updates; /* so many KeyUpdates, and then says what it has to say */
	bool asks; /* for one in return */
	size_t says; /* so many bytes, in one record */
	bool deaf; /* from then on */
};

static int take_any_alpn(SSL *ssl, const unsigned char **out,
			 unsigned char *length, const unsigned char *in,
			 unsigned int in_length, void *name)
{
	(void)ssl;
	(void)in;
	(void)in_length;
	*out = (const unsigned char *)name + 1;
	*length = *(const char *)name;
	return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *peer_context(const struct peer *peer)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	static char name[64];
	const char *alpn = peer->alpn ? peer->alpn : TLS_PROTOCOL;

	snprintf(name, sizeof(name), "%c%s", (int)strlen(alpn), alpn);
	SSL_CTX_set_security_level(ctx, 0);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
	SSL_CTX_set_num_tickets(ctx, peer->tickets);
	if (peer->max_version)
		SSL_CTX_set_max_proto_version(ctx, peer->max_version);
	if (peer->suites)
		SSL_CTX_set_ciphersuites(ctx, peer->suites);
	if (peer->groups)
		SSL_CTX_set1_groups_list(ctx, peer->groups);
	if (peer->server)
		SSL_CTX_set_alpn_select_cb(ctx, take_any_alpn, name);
	else
		SSL_CTX_set_alpn_protos(ctx, (void *)name, strlen(name));
	if (peer->cert) {
		SSL_CTX_use_certificate(ctx, peer->cert->x509);
		SSL_CTX_use_PrivateKey(ctx, peer->cert->key);
	}
	for (int i = 0; i < 3 && peer->chain[i]; i++)
		SSL_CTX_add1_chain_cert(ctx, peer->chain[i]->x509);
	return ctx;
}

/* KeyUpdates, and then bytes. Returns 1, or less if nobody reads them. */
static int talk(SSL *ssl, const struct peer *peer)
{
	static const char bytes[SSL3_RT_MAX_PLAIN_LENGTH];

	for (int i = 0; i < peer->updates; i++)
		if (SSL_key_update(ssl, peer->asks ?
						SSL_KEY_UPDATE_REQUESTED :
						SSL_KEY_UPDATE_NOT_REQUESTED) !=
			    1 ||
		    SSL_do_handshake(ssl) != 1)
			return 0;
	return peer->says ? SSL_write(ssl, bytes, peer->says) : 1;
}

/* Nothing may be asserted here: it is a thread of its own. */
static void *run_peer(void *argument)
{
	struct peer *peer = argument;
	struct pollfd end = { .fd = peer->fd, .events = POLLRDHUP };
	SSL_CTX *ctx = peer_context(peer);
	SSL *ssl = SSL_new(ctx);
	char byte;
	int ok;

	SSL_set_fd(ssl, peer->fd);
	ok = peer->server ? SSL_accept(ssl) : SSL_connect(ssl);
	if (ok == 1)
		ok = talk(ssl, peer);
	/* Until the other end closes: so its alert is heard. */
	while (ok > 0 && !peer->deaf && SSL_read(ssl, &byte, 1) > 0)
		;
	if (peer->deaf)
		poll(&end, 1, -1);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	shutdown(peer->fd, SHUT_RDWR);
	return NULL;
}

/* The end under test, and the thread of the other. */
struct ends {
	SSL_CTX *ctx;
	SSL *ssl;
	int fd;
	struct tls_limit limit;
	struct peer peer;
	pthread_t thread;
};

/* name: what a client's -a says; NULL: the end under test is a server. */
static void start(struct ends *ends, const char *name)
{
	char paths[3][64];
	struct options options = {
		.cert = file_name(paths[0], "own.pem"),
		.key = file_name(paths[1], "own.key"),
		.ca = file_name(paths[2], "ca.pem"),
	};
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	ends->fd = fds[0];
	ends->peer.fd = fds[1];
	ends->peer.server = name;
	ends->limit = (struct tls_limit){
		.patience = { .timeout_ms = 60000, .stop_fd = -1 },
		.deadline = wait_deadline(60000),
	};
	ends->ctx = tls_context(&options, name ? ROLE_CLIENT : ROLE_SERVER);
	assert_non_null(ends->ctx);
	ends->ssl = SSL_new(ends->ctx);
	assert_int_equal(SSL_set_fd(ends->ssl, ends->fd), 1);
	assert_int_equal(tls_expect_peer(ends->ssl, name, (void *)&from), 0);
	if (name)
		SSL_set_connect_state(ends->ssl);
	else
		SSL_set_accept_state(ends->ssl);
	assert_int_equal(
		pthread_create(&ends->thread, NULL, run_peer, &ends->peer), 0);
}

static void end(struct ends *ends)
{
	SSL_free(ends->ssl);
	SSL_CTX_free(ends->ctx);
	shutdown(ends->fd, SHUT_RDWR);
	assert_int_equal(pthread_join(ends->thread, NULL), 0);
	close(ends->fd);
	close(ends->peer.fd);
}

/* error NULL: this peer is let in; else what is said of why it is not. */
static void expect(struct ends *ends, const char *name, const char *error)
{
	int ret;

	start(ends, name);
	ret = CAPTURED(tls_handshake(ends->ssl, &ends->limit));
	end(ends);
	if (!error && ret)
		fail_msg("%s is refused: %s", name ? name : "a client",
			 said.err);
	if (error && !ret)
		fail_msg("let in, which should be refused: %s", error);
	if (error)
		assert_one_line(said.err, error);
}

static void expect_cert(const struct spec *spec, const struct cert *issuer,
			const char *name, const char *error)
{
	struct cert cert = make_cert(spec, issuer);
	struct ends ends = { .peer = { .cert = &cert } };

	expect(&ends, name, error);
	free_cert(&cert);
}

static int open_files(void **state)
{
	const struct spec spec = { .cn = "a CA", .ca = true };
	const struct spec own = { .cn = "we", .eku = "serverAuth,clientAuth" };
	struct cert cert;

	(void)state;
	weaken_openssl();
	ca = make_cert(&spec, NULL);
	other_ca = make_cert(&spec, NULL);
	cert = make_cert(&own, &ca);
	write_cert(&ca, "ca");
	write_cert(&cert, "own");
	free_cert(&cert);
	return 0;
}

static int close_files(void **state)
{
	(void)state;
	free_cert(&ca);
	free_cert(&other_ca);
	remove_folder();
	return 0;
}

#endif
