/*
 * oob_talk.h - what oob.c and oob_talk.c know of a connection, and nobody else
 */
#ifndef OOB_TALK_H
#define OOB_TALK_H

#include <sys/socket.h>

#include "oob.h"
#include "tls.h"
#include "tls_io.h"

struct oob {
	int fd;
	SSL_CTX *ctx; /* one for all: each oob holds a reference */
	SSL *ssl; /* NULL on a listener, and in what oob_prepare() made */
	struct tls_limit limit; /* for the handshake and the whole exchange */
	struct sockaddr_storage local;
	struct sockaddr_storage peer;
};

/* Client: hears the server's hello. Returns 0, or -1 having said why not. */
int oob_recv_hello(struct oob *oob, struct hello *hello);

#endif
