/*
 * tls.h - TLS 1.3 with certificates on both sides
 */
#ifndef TLS_H
#define TLS_H

#include <openssl/ssl.h>
#include <sys/socket.h>

#include "options.h"

/*
 * The name of this protocol and its version, as both sides must give it in
 * the handshake (ALPN): whoever speaks something else is not let in.
 */
#define TLS_PROTOCOL "rdma-params/2"

/*
 * Reads options' certificate, key and CA and makes the context from which
 * each connection is made. There is no way to turn verification off. From then
 * on, the whole program ignores SIGPIPE. Returns NULL after reporting why. The
 * caller frees it with SSL_CTX_free().
 */
SSL_CTX *tls_context(const struct options *options, enum role role);

/*
 * Prepares ssl to verify that the certificate of its peer is for name (a
 * client's: what -a says) or, if name is NULL, for addr (a server's: where
 * the client comes from). Returns 0, or -1 after reporting why.
 */
int tls_expect_peer(SSL *ssl, const char *name, const struct sockaddr *addr);

#endif
