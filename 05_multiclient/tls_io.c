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
 * How many messages of TLS's own may come after the handshake: new keys for
 * this connection (key updates), or tickets for the next one. Our programs send
 * none, since keys last for millions of records. Another library may send two
 * tickets, or update its keys by the clock. Each costs some computing, and a
 * key update may ask for an answer. A peer that sends more has no other
 * purpose.
 */
#define LATE_MAX 16

static void count_late(int is_sent, int version, int type, const void *bytes,
		       size_t length, SSL *ssl, void *argument)
{
	struct tls_limit *limit = argument;

	(void)version;
	(void)bytes;
	(void)length;
	(void)ssl;
	if (!is_sent && type == SSL3_RT_HANDSHAKE)
		limit->late++;
}

static int check_late(const struct tls_limit *limit, const char *what)
{
	if (limit->late <= LATE_MAX)
		return 0;
	return log_fail(
		"%s: the peer has sent more than %d key updates or tickets, which only keep this side busy; is it another program [docs/troubleshooting.md#tls]",
		what, LATE_MAX);
}

/*
 * What to do after a call on ssl returned ret: 1, call again, now that
 * there is something to read or room to write; or -1 after reporting why not.
 */
static int again(SSL *ssl, const struct tls_limit *limit, int ret,
		 const char *what)
{
	int error = SSL_get_error(ssl, ret);

	if (check_late(limit, what))
		return -1;
	switch (error) {
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
		return log_fail(
			"%s: the peer closed the connection instead; see what it says [docs/troubleshooting.md#left]",
			what);
	default:
		return tls_fail_ssl(ssl, what);
	}
}

/* Whether the handshake was for this protocol. */
static int check_protocol(const SSL *ssl)
{
	const unsigned char *name;
	unsigned int length;

	/* A client that offers none at all is not even asked. */
	SSL_get0_alpn_selected(ssl, &name, &length);
	if (length != strlen(TLS_PROTOCOL) ||
	    memcmp(name, TLS_PROTOCOL, length))
		return log_fail(
			"the peer does not speak %s; is it another program, or another version",
			TLS_PROTOCOL);
	return 0;
}

/* Clear the queue each time: old errors would look like this call's. */
int tls_handshake(SSL *ssl, struct tls_limit *limit)
{
	int ret;

	do {
		/* It computes here, but waits for the peer in again(). */
		if (limit->turn && turn_take(limit->turn, &limit->deadline))
			return wait_fail("TLS handshake", errno,
					 &limit->patience);
		ERR_clear_error();
		errno = 0;
		ret = SSL_do_handshake(ssl);
		if (limit->turn)
			turn_leave(limit->turn);
	} while (ret != 1 && again(ssl, limit, ret, "TLS handshake") > 0);
	if (ret != 1)
		return -1;
	/* From now on, any handshake message comes too late. */
	SSL_set_msg_callback(ssl, count_late);
	SSL_set_msg_callback_arg(ssl, limit);
	return check_protocol(ssl);
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

int tls_look(SSL *ssl, const struct tls_limit *limit)
{
	uint8_t byte;
	size_t n;
	int ret;

	ERR_clear_error();
	errno = 0;
	ret = SSL_peek_ex(ssl, &byte, 1, &n);
	switch (SSL_get_error(ssl, ret)) {
	case SSL_ERROR_NONE:
		return TLS_BYTES;
	case SSL_ERROR_WANT_READ:
		return check_late(limit, "TLS") ? -1 : TLS_NOTHING;
	case SSL_ERROR_WANT_WRITE:
		/*
		 * There is no room for an answer to a key update. There may be
		 * more to read, so waiting for that would return at once.
		 */
		return again(ssl, limit, ret, "TLS") < 0 ? -1 : TLS_NOTHING;
	default:
		ERR_clear_error();
		return TLS_GONE;
	}
}
