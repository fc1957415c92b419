/*
 * client_hello.c - what a stranger says first, before anything is made for it
 */
#include "client_hello.h"

#include <errno.h>
#include <stdbool.h>

#include <sys/socket.h>

#include "log.h"

/*
 * How TLS begins: a record has its type, two bytes of version and two of length,
 * and in it, a message has its type and three bytes of length. RFC 8446, 5.1 and 4.
 */
#define RECORD_HEADER 5
#define MESSAGE_HEADER 4
#define HEADERS (RECORD_HEADER + MESSAGE_HEADER)

#define RECORD_HANDSHAKE 22
#define MESSAGE_CLIENT_HELLO 1

/* Ours has some 240 bytes; one with an ML-KEM key has less than 2000. */
#define CLIENT_HELLO_MAX 4096

/* From now on, fd is readable only when that many bytes have come. */
static int set_least(int fd, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes)))
		return log_fail_errno("setsockopt", errno, "SO_RCVLOWAT");
	return 0;
}

static int wait_for(int fd, int bytes, const struct patience *patience,
		    int64_t deadline)
{
	/* With less, poll(2) would come back at once, and again and again. */
	if (set_least(fd, bytes))
		return -1;
	if (wait_readable(fd, -1, patience->stop_fd, deadline) < 0)
		return wait_fail("TLS handshake", errno, patience);
	return set_least(fd, 1);
}

/*
 * How long the record is, by its headers; or -1 after reporting what is wrong.
 */
static int record_length(const uint8_t headers[HEADERS])
{
	int record = headers[3] << 8 | headers[4];
	int message = headers[6] << 16 | headers[7] << 8 | headers[8];

	/* The versions of all TLS begin with a 3. */
	if (headers[0] != RECORD_HANDSHAKE || headers[1] != 3 ||
	    headers[RECORD_HEADER] != MESSAGE_CLIENT_HELLO)
		return log_fail(
			"TLS handshake: the peer does not begin with a ClientHello, as clients of TLS do; is it 03's program, or is -p wrong [docs/troubleshooting.md#tls]");
	if (message > CLIENT_HELLO_MAX || record != MESSAGE_HEADER + message)
		return log_fail(
			"TLS handshake: the peer announces a ClientHello of %d bytes in a record of %d; it must fill the record, and %d is the most; is it another program [docs/troubleshooting.md#tls]",
			message, record, CLIENT_HELLO_MAX);
	return record;
}

int client_hello_wait(int fd, const struct patience *patience, int64_t deadline)
{
	uint8_t headers[HEADERS];
	ssize_t n;
	int length;

	if (wait_for(fd, HEADERS, patience, deadline))
		return -1;
	n = recv(fd, headers, sizeof(headers), MSG_PEEK);
	if (n < 0)
		return log_fail_errno(
			"recv", errno,
			"in the TLS handshake: is the peer still alive [docs/troubleshooting.md#left]");
	if (n < HEADERS)
		return log_fail(
			"TLS handshake: the peer closed the connection before its ClientHello; see what it says [docs/troubleshooting.md#tls]");
	length = record_length(headers);
	if (length < 0)
		return -1;
	/* If it ends before, OpenSSL will report that. */
	return wait_for(fd, RECORD_HEADER + length, patience, deadline);
}

/* The groups that tls.c allows, as RFC 8446, 4.2.7, numbers them. */
static bool is_our_group(int group)
{
	return group == 0x1d || group == 0x17 || group == 0x18;
}

int client_hello_refuse_second(SSL *ssl, int *alert, void *argument)
{
	const unsigned char *keys;
	size_t length;

	(void)argument;
	/* A client that sends no list of keys is not asked: OpenSSL refuses it. */
	if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_key_share, &keys,
				       &length))
		return SSL_CLIENT_HELLO_SUCCESS;
	/* The list's length; then each key's group, its length and itself. */
	for (size_t i = 2; i + 4 <= length;
	     i += 4 + (keys[i + 2] << 8 | keys[i + 3]))
		if (is_our_group(keys[i] << 8 | keys[i + 1]))
			return SSL_CLIENT_HELLO_SUCCESS;
	*alert = SSL_AD_HANDSHAKE_FAILURE;
	return SSL_CLIENT_HELLO_ERROR;
}
