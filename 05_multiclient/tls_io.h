/*
 * tls_io.h - a handshake, and bytes over TLS, all of them and in time
 */
#ifndef TLS_IO_H
#define TLS_IO_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/ssl.h>

#include "turn.h"
#include "wait.h"

/* How long, in all, the calls below may take, and what ends them early. */
struct tls_limit {
	struct patience patience;
	int64_t deadline;
	unsigned int late; /* messages of TLS's own since the handshake */
	struct turn *turn; /* a server's handshake has to wait for it; or NULL */
};

/*
 * Shake hands, with all checks; send; receive length bytes, which an error calls
 * what. The peer may send and take them in any number of pieces. Each
 * returns 0, or -1 after reporting why. From the handshake on, ssl keeps
 * limit's address.
 */
int tls_handshake(SSL *ssl, struct tls_limit *limit);
int tls_write(SSL *ssl, const struct tls_limit *limit, const uint8_t *bytes,
	      size_t length);
int tls_read(SSL *ssl, const struct tls_limit *limit, uint8_t *bytes,
	     size_t length, const char *what);

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
int tls_look(SSL *ssl, const struct tls_limit *limit);

#endif
