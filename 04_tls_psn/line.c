/*
 * line.c - lines of text over TLS, each of them whole and in time
 */
#include "line.h"

#include <errno.h>
#include <string.h>

#include <openssl/err.h>

#include "log.h"
#include "sock.h"
#include "tls.h"
#include "tls_fail.h"
#include "who.h"

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
	struct line *line = argument;

	(void)version;
	(void)bytes;
	(void)length;
	(void)ssl;
	if (!is_sent && type == SSL3_RT_HANDSHAKE)
		line->late++;
}

static int check_late(const struct line *line, const char *what)
{
	if (line->late <= LATE_MAX)
		return 0;
	return log_fail(
		"%s: the peer has sent more than %d key updates or tickets, which only keep this side busy; is it another program [docs/troubleshooting.md#tls]",
		what, LATE_MAX);
}

/*
 * What to do after a call returned ret: 1, call again, now that there is something
 * to read or room to write; or -1 after reporting why not. A read may have to wait
 * for room to write, and the other way round.
 */
static int again(const struct line *line, int ret, const char *what)
{
	int fd = SSL_get_fd(line->ssl), stop_fd = line->patience.stop_fd;
	int error = SSL_get_error(line->ssl, ret);

	if (check_late(line, what))
		return -1;
	switch (error) {
	case SSL_ERROR_WANT_READ:
		ret = wait_readable(fd, -1, stop_fd, line->deadline);
		break;
	case SSL_ERROR_WANT_WRITE:
		ret = wait_writable(fd, stop_fd, line->deadline);
		break;
	case SSL_ERROR_ZERO_RETURN:
		return log_fail(
			"%s: the peer closed the connection instead; see what it says [docs/troubleshooting.md#left]",
			what);
	default:
		return tls_fail_ssl(line->ssl, what);
	}
	return ret < 0 ? wait_fail(what, errno, &line->patience) : 1;
}

/* ---- The handshake ---- */

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

/* Before each call: errors that are still in the queue would look like its own. */
static void clear_errors(void)
{
	ERR_clear_error();
	errno = 0;
}

int line_shake_hands(struct line *line)
{
	int ret;

	do {
		clear_errors();
		ret = SSL_do_handshake(line->ssl);
	} while (ret != 1 && again(line, ret, "TLS handshake") > 0);
	if (ret != 1)
		return -1;
	/* From now on, any handshake message comes too late. */
	SSL_set_msg_callback(line->ssl, count_late);
	SSL_set_msg_callback_arg(line->ssl, line);
	if (check_protocol(line->ssl))
		return -1;
	return who_print(line->ssl);
}

/* ---- What is said ---- */

int line_send(struct line *line, const char *bytes, size_t length)
{
	size_t n;
	int ret;

	/* OpenSSL sends all of it, in one record, or asks to be called again, with the same. */
	do {
		clear_errors();
		ret = SSL_write_ex(line->ssl, bytes, length, &n);
	} while (ret != 1 && again(line, ret, "sending to the peer") > 0);
	return ret == 1 ? 0 : -1;
}

/* Reads one byte: a line must not take with it what comes after it. */
static int recv_byte(struct line *line, const char *what, char *byte)
{
	size_t n;
	int ret;

	do {
		clear_errors();
		ret = SSL_read_ex(line->ssl, byte, 1, &n);
	} while (ret != 1 && again(line, ret, what) > 0);
	return ret == 1 ? 0 : -1;
}

int line_recv(struct line *line, const char *what)
{
	line->length = 0;
	do {
		if (line->length == LINE_LONGEST)
			return log_fail(
				"the peer's line has more than %d bytes; is it another program",
				LINE_LONGEST);
		if (recv_byte(line, what, &line->text[line->length]))
			return -1;
	} while (line->text[line->length++] != '\n');
	line->text[line->length] = 0;
	return 0;
}

int line_expect(struct line *line, const char *text, const char *what)
{
	if (line_recv(line, what))
		return -1;
	if (strcmp(line->text, text))
		return log_fail(
			"the peer sent something other than %s; is it another program, or another version",
			what);
	return 0;
}

bool line_is_gone(const struct line *line, int ret)
{
	/* OpenSSL 3.5 queues the errno of a system call; 3.0 leaves it where it is. */
	unsigned long queued = ERR_peek_error();
	int reason = ERR_GET_REASON(queued), saved = errno;
	int error = SSL_get_error(line->ssl, ret);

	if (error == SSL_ERROR_SYSCALL)
		return sock_is_gone(ERR_SYSTEM_ERROR(queued) ? reason : saved);
	/*
	 * With a close_notify, without one, or with an alert: it has failed. The
	 * reasons that all of OpenSSL has, such as no memory, are our side's.
	 */
	return error == SSL_ERROR_ZERO_RETURN ||
	       reason == SSL_R_UNEXPECTED_EOF_WHILE_READING ||
	       (reason >= SSL_AD_REASON_OFFSET && !ERR_COMMON_ERROR(queued));
}

int line_look(struct line *line, bool *gone)
{
	uint8_t byte;
	size_t n;
	int ret;

	clear_errors();
	ret = SSL_peek_ex(line->ssl, &byte, 1, &n);
	switch (SSL_get_error(line->ssl, ret)) {
	case SSL_ERROR_NONE:
		return 1;
	case SSL_ERROR_WANT_READ:
		return check_late(line, "TLS");
	case SSL_ERROR_WANT_WRITE:
		/*
		 * There is no room for an answer to a key update. There may be
		 * more to read, so waiting for that would return at once.
		 */
		return again(line, ret, "TLS") < 0 ? -1 : 0;
	default:
		*gone = line_is_gone(line, ret);
		if (!*gone)
			return tls_fail_ssl(line->ssl, "TLS");
		ERR_clear_error();
		return 0;
	}
}
