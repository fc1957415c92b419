/*
 * flood_keys.c - a peer with a good certificate that never stops talking
 *
 *	flood_keys server|client PORT ALPN SECONDS [ADDRESS]
 *
 * Shakes hands, as a server on PORT or as a client of ADDRESS, with
 * certs/server.pem or certs/client.pem, and then sends KeyUpdates and nothing
 * else, until SECONDS are over or nobody takes them. A server listens when it
 * says so.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <netinet/tcp.h>
#include <openssl/ssl.h>

static char alpn[64];

static int select_alpn(SSL *ssl, const unsigned char **out,
		       unsigned char *length, const unsigned char *in,
		       unsigned int in_length, void *argument)
{
	(void)ssl;
	(void)in;
	(void)in_length;
	(void)argument;
	*out = (unsigned char *)alpn + 1;
	*length = alpn[0];
	return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *make_context(const char *role)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	char cert[64], key[64];

	snprintf(cert, sizeof(cert), "certs/%s.pem", role);
	snprintf(key, sizeof(key), "certs/%s.key", role);
	if (SSL_CTX_use_certificate_file(ctx, cert, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
		exit(2);
	SSL_CTX_set_alpn_select_cb(ctx, select_alpn, NULL);
	SSL_CTX_set_alpn_protos(ctx, (unsigned char *)alpn, strlen(alpn));
	SSL_CTX_set_num_tickets(ctx, 0);
	return ctx;
}

static int open_socket(int port, const char *address)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (address) {
		inet_pton(AF_INET, address, &addr.sin_addr);
		if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
			exit(3);
		return fd;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 1))
		exit(3);
	puts("listening");
	fflush(stdout);
	return accept(fd, NULL, NULL);
}

int main(int argc, char **argv)
{
	SSL *ssl;
	time_t end;

	if (argc < 5)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	snprintf(alpn, sizeof(alpn), "%c%s", (int)strlen(argv[3]), argv[3]);
	ssl = SSL_new(make_context(argv[1]));
	SSL_set_fd(ssl, open_socket(atoi(argv[2]), argc > 5 ? argv[5] : NULL));
	if ((argc > 5 ? SSL_connect(ssl) : SSL_accept(ssl)) != 1)
		return 4;
	puts("flooding");
	fflush(stdout);
	end = time(NULL) + atoi(argv[4]);
	while (time(NULL) < end)
		if (SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1 ||
		    SSL_do_handshake(ssl) != 1)
			return 0;
	/* Nobody has stopped us. */
	puts("ended by itself");
	return 1;
}
