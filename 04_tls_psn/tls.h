/*
 * tls.h - TLS 1.3 with certificates on both sides, and its errors in words
 */
#ifndef TLS_H
#define TLS_H

#include <openssl/ssl.h>
#include <sys/socket.h>

#include "options.h"
#include "wait.h"

/*
 * The name of this protocol and its version, as both sides must give it in
 * the handshake (ALPN): whoever speaks something else is not let in.
 */
#define TLS_PROTOCOL "rdma-params/2"

/*
 * Reads options' certificate, key and CA and makes the context from which
 * each connection is made. There is no way to turn verification off. From then
 * on, the whole program ignores SIGPIPE. Returns NULL having said why. The
 * caller frees it with SSL_CTX_free().
 */
SSL_CTX *tls_context(const struct options *options, enum role role);

/*
 * Prepares ssl to verify that the certificate of its peer is for name (a
 * client's: what -a says) or, if name is NULL, for addr (a server's: where
 * the client comes from). Returns 0, or -1 having said why.
 */
int tls_expect_peer(SSL *ssl, const char *name, const struct sockaddr *addr);

/* How long, in all, the calls below may take, and what ends them early. */
struct tls_limit {
	struct patience patience;
	int64_t deadline;
};

/*
 * The handshake, with all its checks; sending; receiving length bytes, which
 * are what. In however many pieces the peer sends and takes them. Each returns
 * 0, or -1 having said why.
 */
int tls_handshake(SSL *ssl, const struct tls_limit *limit);
int tls_write(SSL *ssl, const struct tls_limit *limit, const uint8_t *bytes,
	      size_t length);
int tls_read(SSL *ssl, const struct tls_limit *limit, uint8_t *bytes,
	     size_t length, const char *what);

/*
 * Prints the subject of the certificate that the peer has shown, as one line
 * of the story, after tls_handshake(). Returns 0, or -1 having said why not.
 */
int tls_print_peer(const SSL *ssl);

/*
 * Says what a failed call left in OpenSSL's error queue, and clears it. hint
 * says what to try. Always returns -1.
 */
int tls_fail(const char *call, const char *hint);

/*
 * The same for a handshake, a read or a write on ssl, where the reason says
 * what to try. Always returns -1.
 */
int tls_fail_ssl(const SSL *ssl, const char *what);

#endif
