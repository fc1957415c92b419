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
 * A connection, and how long, in all, the calls below may take, and what ends them
 * early. Set patience and deadline, and zero the rest. After tls_handshake() it must
 * stay where it is.
 */
struct tls {
	struct patience patience;
	int64_t deadline;
	SSL *ssl;
	unsigned int late; /* messages of TLS's own since the handshake */
};

/*
 * Reads the files, and makes the context from which each connection is made. There
 * is no way to turn verification off. From then on, the whole program ignores
 * SIGPIPE. Returns NULL after reporting why. Free it with SSL_CTX_free().
 */
SSL_CTX *tls_context(const struct tls_files *files, bool server);

/*
 * Shakes hands with the peer at addr over the socket fd, with all checks, and prints
 * who it is. Its certificate must be for name (a server's: what -a says) or, if name
 * is NULL, for addr (a client's: where it comes from).
 */
int tls_handshake(struct tls *tls, SSL_CTX *ctx, int fd, const char *name,
		  const struct sockaddr *addr);

/*
 * Sends length bytes; receives one, and never takes more from the peer's record: an
 * error calls what is to come what.
 */
int tls_write(struct tls *tls, const void *bytes, size_t length);
int tls_read(struct tls *tls, char *byte, const char *what);

/* What tls_look() finds: */
enum {
	TLS_GONE, /* closed, cut, reset or silent for too long */
	TLS_NOTHING,
	TLS_BYTES
};

/*
 * Whether there is something to read. Does not wait for it, but may wait for room
 * to send an answer of TLS's own. Returns one of the above, or -1 after
 * reporting why.
 */
int tls_look(struct tls *tls);

/* Whether a call that returned ret failed because nobody is there any more. */
bool tls_is_gone(const struct tls *tls, int ret);

#endif
