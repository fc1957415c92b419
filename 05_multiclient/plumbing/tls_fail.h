/*
 * tls_fail.h - what OpenSSL's errors mean, in words
 */
#ifndef TLS_FAIL_H
#define TLS_FAIL_H

#include <openssl/ssl.h>

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
