/*
 * exchange_peer.h - a peer that knows TLS, and says whatever it likes in it
 *
 * It has a good certificate. For one test program: everything here is static.
 * Include it after cmocka.h.
 */
#ifndef EXCHANGE_PEER_H
#define EXCHANGE_PEER_H

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "capture.h"
#include "oob.h"
#include "tls.h"
#include "tls_io.h"
#include "tls_certs.h"

/* How it ends, when it has said all. */
enum ending {
	WAITS, /* for the other end, and says nothing */
	SAYS_GOODBYE, /* the close_notify of TLS */
	IS_CUT /* TCP ends, and TLS does not */
};

static struct peer {
	int port; /* where it goes to; a server: 0 */
	int fd;
	uint8_t says[1024];
	size_t length;
	enum ending ending;
	uint8_t heard[1024];
	size_t heard_length;
	bool let_in;
	pthread_t thread;
} peer;

static struct cert ca;
static struct patience patience = { .timeout_ms = 20000, .stop_fd = -1 };

static const unsigned char alpn[] = "\x0d" TLS_PROTOCOL;

static int take_alpn(SSL *ssl, const unsigned char **out, unsigned char *length,
		     const unsigned char *in, unsigned int in_length,
		     void *unused)
{
	(void)ssl;
	(void)in;
	(void)in_length;
	(void)unused;
	*out = alpn + 1;
	*length = alpn[0];
	return SSL_TLSEXT_ERR_OK;
}

static SSL *peer_ssl(SSL_CTX *ctx, const char *name)
{
	char path[64];
	SSL *ssl;

	SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
	SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn) - 1);
	SSL_CTX_set_alpn_select_cb(ctx, take_alpn, NULL);
	snprintf(path, sizeof(path), "%s/%s.pem", folder, name);
	SSL_CTX_use_certificate_file(ctx, path, SSL_FILETYPE_PEM);
	snprintf(path, sizeof(path), "%s/%s.key", folder, name);
	SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM);
	ssl = SSL_new(ctx);
	SSL_set_fd(ssl, peer.fd);
	return ssl;
}

/* Says what it has to, and hears until the other end is gone. */
static void talk(SSL *ssl)
{
	int n;

	if (peer.length)
		SSL_write(ssl, peer.says, peer.length);
	if (peer.ending == SAYS_GOODBYE)
		SSL_shutdown(ssl);
	if (peer.ending == IS_CUT)
		shutdown(peer.fd, SHUT_WR);
	while ((n = SSL_read(ssl, peer.heard + peer.heard_length,
			     sizeof(peer.heard) - peer.heard_length)) > 0)
		peer.heard_length += n;
}

/* Nothing may be asserted here: it is a thread of its own. */
static void *run_peer(void *unused)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(peer.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int listener = peer.fd;
	SSL *ssl;

	(void)unused;
	if (peer.port) {
		peer.fd = socket(AF_INET, SOCK_STREAM, 0);
		connect(peer.fd, (void *)&addr, sizeof(addr));
	} else {
		peer.fd = accept(listener, NULL, NULL);
	}
	ssl = peer_ssl(ctx, peer.port ? "client" : "server");
	peer.let_in = (peer.port ? SSL_connect(ssl) : SSL_accept(ssl)) == 1;
	if (peer.let_in)
		talk(ssl);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	close(peer.fd);
	if (!peer.port)
		close(listener);
	return NULL;
}

/* To our end, the peer comes from 192.0.2.1: loopback addresses are no GIDs. */
int accept4(int fd, struct sockaddr *addr, socklen_t *length, int flags)
{
	const struct sockaddr_in from = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc0000201),
	};
	int ret = syscall(SYS_accept4, fd, NULL, NULL, flags);

	if (addr) {
		memcpy(addr, &from, sizeof(from));
		*length = sizeof(from);
	}
	return ret;
}

static void join_peer(void)
{
	assert_int_equal(pthread_join(peer.thread, NULL), 0);
}

static int port_of(int fd)
{
	struct sockaddr_storage addr;
	socklen_t length = sizeof(addr);

	assert_int_equal(getsockname(fd, (void *)&addr, &length), 0);
	return ntohs(addr.ss_family == AF_INET6 ?
			     ((struct sockaddr_in6 *)&addr)->sin6_port :
			     ((struct sockaddr_in *)&addr)->sin_port);
}

/* What our end is called, and where its files are. */
static struct options options_of(const char *name, const char *port)
{
	static char paths[3][64];
	struct options options = { .address = "127.0.0.1", .port = port };

	snprintf(paths[0], 64, "%s/%s.pem", folder, name);
	snprintf(paths[1], 64, "%s/%s.key", folder, name);
	snprintf(paths[2], 64, "%s/ca.pem", folder);
	options.cert = paths[0];
	options.key = paths[1];
	options.ca = paths[2];
	return options;
}

static int make_files(void **state)
{
	static const struct spec specs[] = {
		{ .cn = "a CA", .ca = true },
		{ .cn = "s", .san = "IP:127.0.0.1", .eku = "serverAuth" },
		{ .cn = "c", .san = "IP:192.0.2.1", .eku = "clientAuth" },
	};
	struct cert server, client;

	(void)state;
	weaken_openssl();
	ca = make_cert(&specs[0], NULL);
	server = make_cert(&specs[1], &ca);
	client = make_cert(&specs[2], &ca);
	write_cert(&ca, "ca");
	write_cert(&server, "server");
	write_cert(&client, "client");
	free_cert(&server);
	free_cert(&client);
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	free_cert(&ca);
	remove_folder();
	return 0;
}

#endif
