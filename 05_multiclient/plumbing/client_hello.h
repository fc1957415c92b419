/*
 * client_hello.h - what a stranger says first, before anything is made for it
 */
#ifndef CLIENT_HELLO_H
#define CLIENT_HELLO_H

#include <stdint.h>

#include <openssl/ssl.h>

#include "wait.h"

/*
 * Waits until all of a ClientHello can be read from the TCP socket fd, which a
 * server has accepted, and leaves it there. It must be in one record, and no
 * longer than any client's needs to be. Returns 0, or -1 after reporting why.
 *
 * OpenSSL allocates buffers as soon as it has the first bytes, and as large as
 * these announce: 170 kB for nine bytes. Here, a client that has sent only part
 * of a ClientHello costs only the kernel's memory.
 */
int client_hello_wait(int fd, const struct patience *patience,
		      int64_t deadline);

/*
 * For SSL_CTX_set_client_hello_cb(). A client whose keys are all of other groups
 * would be asked for one of ours, and its second ClientHello may announce 131 kB, for
 * which OpenSSL gets memory at once. Our clients send a key that we can use, so nobody
 * is asked.
 */
int client_hello_refuse_second(SSL *ssl, int *alert, void *argument);

#endif
