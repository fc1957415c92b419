/*
 * tls.h - TLS 1.3 with certificates on both sides
 *
 * Functions return 0, or -1 after reporting why, unless it says otherwise.
 */
#ifndef TLS_H
#define TLS_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/ssl.h>
#include <sys/socket.h>

#include "wait.h"

/*
 * The name of this protocol and its version, as both sides must give it in
 * the handshake (ALPN): whoever speaks something else is not let in.
 */
#define TLS_PROTOCOL "rdma-params/2"

/* Who we are, and whom we believe: names of files. */
struct tls_files {
	const char *cert; /* our certificate, */
	const char *key; /* its private key, */
	const char *ca; /* and the CA that must have signed the peer's */
};

/*
 * Reads the files, and makes the context from which each connection is made. There
 * is no way to turn verification off. From then on, the whole program ignores
 * SIGPIPE. Returns NULL after reporting why. Free it with SSL_CTX_free().
 */
SSL_CTX *tls_context(const struct tls_files *files, bool server);

/*
 * A connection over the socket fd, before its handshake. The certificate of the peer must be
 * for name (a server's: what -a says) or, if name is NULL, for addr (a client's: where it
 * comes from). Returns NULL after reporting why. Free it with SSL_free().
 */
SSL *tls_new(SSL_CTX *ctx, int fd, const char *name,
	     const struct sockaddr *addr);

#endif
