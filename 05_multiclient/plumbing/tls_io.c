/*
 * tls_io.c - handshake, write and read before a deadline; who the peer is
 */
#include "tls_io.h"

#include <errno.h>
#include <string.h>

#include <openssl/err.h>

#include "log.h"
#include "tls.h"
#include "tls_fail.h"

/*
 * What to do after a call on ssl returned ret: 1, call again, now that
 * there is something to read or room to write; or -1 having said why not.
 */
static int again(SSL *ssl, const struct tls_limit *limit, int ret,
		 const char *what)
{
	switch (SSL_get_error(ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		if (wait_readable(SSL_get_fd(ssl), -1, limit->patience.stop_fd,
				  limit->deadline) < 0)
			return wait_fail(what, errno, &limit->patience);
		return 1;
	case SSL_ERROR_WANT_WRITE:
		if (wait_writable(SSL_get_fd(ssl), limit->patience.stop_fd,
				  limit->deadline))
			return wait_fail(what, errno, &limit->patience);
		return 1;
	case SSL_ERROR_ZERO_RETURN:
		return log_fail("%s: the peer closed the connection instead; "
				"see what it says"
				" [docs/troubleshooting.md#left]",
				what);
	default:
		return tls_fail_ssl(ssl, what);
	}
}

/* Whether the handshake was one for this protocol. */
static int check_protocol(const SSL *ssl)
{
	const unsigned char *name;
	unsigned int length;

	/* A client that offers none at all is not even asked. */
	SSL_get0_alpn_selected(ssl, &name, &length);
	if (length != strlen(TLS_PROTOCOL) ||
	    memcmp(name, TLS_PROTOCOL, length))
		return log_fail("the peer does not speak %s; is it another "
				"program, or another version",
				TLS_PROTOCOL);
	return 0;
}

/* A subject may be long, and is the peer's to choose; a line need not be. */
#define SUBJECT_MAX 200

int tls_print_peer(const SSL *ssl)
{
	const X509 *cert = SSL_get0_peer_certificate(ssl);
	BIO *bio = BIO_new(BIO_s_mem());
	const char *text = "";
	long length = 0;

	/* What is not plain ASCII is written as \XX here: it stays one line. */
	if (!cert || !bio ||
	    X509_NAME_print_ex(bio, X509_get_subject_name(cert), 0,
			       XN_FLAG_RFC2253) < 0) {
		BIO_free(bio);
		return tls_fail("X509_NAME_print_ex", "out of memory");
	}
	length = BIO_get_mem_data(bio, &text);
	log_text("authenticated peer: ", text,
		 length > SUBJECT_MAX ? SUBJECT_MAX : length);
	BIO_free(bio);
	return 0;
}

/* A queue of old errors would be taken for this call's: clear it each time. */
int tls_handshake(SSL *ssl, struct tls_limit *limit)
{
	int ret;

	do {
		/* It computes here, and waits for the peer in again(). */
		if (limit->turn && turn_take(limit->turn, &limit->deadline))
			return wait_fail("TLS handshake", errno,
					 &limit->patience);
		ERR_clear_error();
		errno = 0;
		ret = SSL_do_handshake(ssl);
		if (limit->turn)
			turn_leave(limit->turn);
	} while (ret != 1 && again(ssl, limit, ret, "TLS handshake") > 0);
	return ret == 1 ? check_protocol(ssl) : -1;
}

int tls_write(SSL *ssl, const struct tls_limit *limit, const uint8_t *bytes,
	      size_t length)
{
	size_t n;

	while (length) {
		int ret;

		ERR_clear_error();
		errno = 0;
		ret = SSL_write_ex(ssl, bytes, length, &n);
		if (ret == 1) {
			bytes += n;
			length -= n;
		} else if (again(ssl, limit, ret, "sending to the peer") < 0) {
			return -1;
		}
	}
	return 0;
}

int tls_read(SSL *ssl, const struct tls_limit *limit, uint8_t *bytes,
	     size_t length, const char *what)
{
	size_t n;

	while (length) {
		int ret;

		ERR_clear_error();
		errno = 0;
		ret = SSL_read_ex(ssl, bytes, length, &n);
		if (ret == 1) {
			bytes += n;
			length -= n;
		} else if (again(ssl, limit, ret, what) < 0) {
			return -1;
		}
	}
	return 0;
}
