/*
 * oob_talk.c - out of band: what two sides say to each other before RDMA works
 *
 * In 04 this was part of oob.c.
 */
#include "oob_talk.h"

#include <errno.h>
#include <string.h>

#include <netinet/in.h>
#include <openssl/err.h>

#include "log.h"

/* Sends a message of type; body has as many bytes as its type wants. */
static int send_message(struct oob *oob, enum params_type type,
			const uint8_t *body)
{
	uint8_t wire[PARAMS_HEADER + PARAMS_MAX];
	size_t length = params_header(type, wire);

	/* In one piece: what an observer sees is one record. */
	if (length)
		memcpy(wire + PARAMS_HEADER, body, length);
	return tls_write(oob->ssl, &oob->limit, wire, PARAMS_HEADER + length);
}

/* Receives the header of a message that must be of type. */
static int recv_header(struct oob *oob, enum params_type type, const char *what)
{
	uint8_t wire[PARAMS_HEADER];

	if (tls_read(oob->ssl, &oob->limit, wire, sizeof(wire), what))
		return -1;
	return params_check_header(type, wire);
}

/* The same with what follows the header; returns how much, or 0. */
static size_t recv_body(struct oob *oob, enum params_type type,
			uint8_t body[PARAMS_MAX], const char *what)
{
	uint8_t wire[PARAMS_HEADER];
	size_t length = params_header(type, wire);

	if (recv_header(oob, type, what) ||
	    tls_read(oob->ssl, &oob->limit, body, length, what))
		return 0;
	return length;
}

int oob_hello(struct oob *oob, const struct hello *hello, int stop_fd)
{
	uint8_t body[PARAMS_MAX];

	oob->limit.patience.stop_fd = stop_fd;
	params_encode_hello(hello, body);
	if (send_message(oob, PARAMS_HELLO, body))
		return -1;
	/* That was all: a proper end, so that the client can be sure of it. */
	if (!hello->number)
		SSL_shutdown(oob->ssl);
	return 0;
}

int oob_recv_hello(struct oob *oob, struct hello *hello)
{
	uint8_t body[PARAMS_MAX];
	size_t length = recv_body(oob, PARAMS_HELLO, body, "hello");

	return length ? params_decode_hello(hello, body, length) : -1;
}

int oob_send_params(struct oob *oob, const struct params *params)
{
	uint8_t body[PARAMS_MAX];

	params_encode(params, body);
	return send_message(oob, PARAMS_PARAMS, body);
}

/*
 * The certificate proved who is at that address, so the queue pair must live
 * there, too: otherwise a client could have us send to somebody else.
 */
static int check_address(const struct oob *oob, const struct params *params)
{
	const struct sockaddr_in6 *sin6 =
		(const struct sockaddr_in6 *)&oob->peer;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)&oob->peer;
	uint8_t gid[16] = { [10] = 0xff, [11] = 0xff };

	if (oob->peer.ss_family == AF_INET6)
		memcpy(gid, &sin6->sin6_addr, 16);
	else
		memcpy(gid + 12, &sin->sin_addr, 4);
	if (memcmp(gid, params->gid.raw, 16))
		return log_fail("the peer's GID is not the address that it "
				"was authenticated at: refused; is -G given");
	return 0;
}

int oob_recv_params(struct oob *oob, struct params *params, bool roce)
{
	uint8_t body[PARAMS_MAX];
	size_t length =
		recv_body(oob, PARAMS_PARAMS, body, "the peer's parameters");

	if (!length || params_decode(params, body, length, roce))
		return -1;
	/* A LID says nothing of an IP address: it can only be believed. */
	return roce ? check_address(oob, params) : 0;
}

int oob_ready(struct oob *oob)
{
	if (send_message(oob, PARAMS_READY, NULL))
		return -1;
	return recv_header(oob, PARAMS_READY, "READY");
}

int oob_check(struct oob *oob)
{
	uint8_t byte;
	size_t n;
	int ret;

	ERR_clear_error();
	ret = SSL_peek_ex(oob->ssl, &byte, 1, &n);
	if (ret != 1) {
		ret = SSL_get_error(oob->ssl, ret);
		ERR_clear_error();
		/* Otherwise closed, cut, reset or silent for too long. */
		return ret == SSL_ERROR_WANT_READ ||
				       ret == SSL_ERROR_WANT_WRITE ?
			       OOB_THERE :
			       OOB_GONE;
	}
	oob->limit.deadline = wait_deadline(oob->limit.patience.timeout_ms);
	return recv_header(oob, PARAMS_BYE, "BYE") ? -1 : OOB_SAID_BYE;
}

void oob_bye(struct oob *oob)
{
	uint8_t wire[PARAMS_HEADER];

	params_header(PARAMS_BYE, wire);
	ERR_clear_error();
	/* close_notify after it: what comes then is nobody's goodbye. */
	if (SSL_write(oob->ssl, wire, sizeof(wire)) > 0)
		SSL_shutdown(oob->ssl);
	ERR_clear_error();
}
