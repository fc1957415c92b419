/*
 * oob.c - out of band: what two sides say to each other before RDMA works
 *
 * Here, over TLS 1.3 with certificates on both sides. Nobody between the two
 * sides can read the parameters or change them, and a peer without a
 * certificate from our CA gets no queue pair.
 */
#include "oob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>

#include "client_hello.h"
#include "gid.h"
#include "log.h"
#include "sock.h"
#include "tls.h"
#include "tls_fail.h"
#include "tls_io.h"
#include "who.h"

struct oob {
	int fd;
	SSL_CTX *ctx; /* for all that are made from this one; counted */
	SSL *ssl; /* NULL on a listener, and in what oob_prepare() made */
	const struct options *options; /* a server's; borrowed */
	struct tls_limit limit; /* for the handshake and the whole exchange */
	struct sockaddr_storage local;
	struct sockaddr_storage peer;
};

static struct oob *new_oob(void)
{
	struct oob *oob = calloc(1, sizeof(*oob));

	if (!oob)
		log_fail_errno("calloc", errno, "out of memory");
	else
		oob->fd = -1;
	return oob;
}

struct oob *oob_prepare(const struct options *options)
{
	struct oob *oob = new_oob();

	if (!oob)
		return NULL;
	oob->ctx = tls_context(options, ROLE_CLIENT);
	if (oob->ctx)
		return oob;
	oob_close(oob);
	return NULL;
}

struct oob *oob_listen(const struct options *options)
{
	struct oob *oob = new_oob();

	if (!oob)
		return NULL;
	oob->options = options;
	oob->ctx = tls_context(options, ROLE_SERVER);
	if (oob->ctx)
		oob->fd = sock_listen(options->address, options->port);
	if (oob->fd < 0 || sock_local(oob->fd, &oob->local)) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

void oob_stop(struct oob *listener)
{
	/* Not close(): another thread may still use the descriptor. */
	shutdown(listener->fd, SHUT_RDWR);
}

int oob_renew(struct oob *listener)
{
	SSL_CTX *ctx = tls_context(listener->options, ROLE_SERVER);

	if (!ctx)
		return -1;
	/* Those who have connected before keep the one that they began with. */
	SSL_CTX_free(listener->ctx);
	listener->ctx = ctx;
	return 0;
}

int oob_fd(const struct oob *oob)
{
	return oob->fd;
}

const struct sockaddr *oob_local(const struct oob *oob)
{
	return (const struct sockaddr *)&oob->local;
}

/* Sends a message of type; body has as many bytes as its type requires. */
static int send_message(struct oob *oob, enum params_type type,
			const uint8_t *body)
{
	uint8_t wire[PARAMS_HEADER + PARAMS_MAX];
	size_t length = params_header(type, wire);

	/* In one piece, so that an observer sees one record. */
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

/* A connected socket, its own address, and the deadline. */
static int start(struct oob *oob, int fd, const struct patience *patience,
		 int64_t deadline)
{
	oob->fd = fd;
	oob->limit = (struct tls_limit){
		.patience = *patience,
		.deadline = deadline,
	};
	if (fd < 0)
		return -1;
	return sock_local(fd, &oob->local);
}

/* The TLS layer on the socket, which must verify the peer. */
static int secure(struct oob *oob, SSL_CTX *ctx, const char *server)
{
	oob->ssl = SSL_new(ctx);
	if (!oob->ssl || SSL_set_fd(oob->ssl, oob->fd) != 1)
		return tls_fail("SSL_new", "out of memory");
	/* Most of a thousand clients are silent, and then need no buffer. */
	SSL_set_mode(oob->ssl, SSL_MODE_RELEASE_BUFFERS);
	if (tls_expect_peer(oob->ssl, server, (struct sockaddr *)&oob->peer))
		return -1;
	if (server)
		SSL_set_connect_state(oob->ssl);
	else
		SSL_set_accept_state(oob->ssl);
	return tls_handshake(oob->ssl, &oob->limit);
}

/* TLS has shown who the client is. Whether it may come is another question. */
static int check_list(SSL *ssl, const struct options *options)
{
	struct who who;

	if (!options->list)
		return 0;
	if (!who_is(&who, SSL_get0_peer_certificate(ssl)) &&
	    !who_may(&who, options->list,
		     options->mode == MODE_WRITE ? "write" : "read"))
		return 0;
	/* Without this, the client could not tell a refusal from a failure. */
	SSL_shutdown(ssl);
	return -1;
}

struct oob *oob_accept(struct oob *listener, const struct patience *patience)
{
	int64_t deadline = wait_deadline(patience->timeout_ms);
	struct oob *oob = new_oob();

	if (!oob)
		return NULL;
	oob->options = listener->options;
	/* This thread may change the listener's; the client's needs one that stays. */
	if (SSL_CTX_up_ref(listener->ctx) != 1) {
		tls_fail("SSL_CTX_up_ref", "this client is not served");
		oob_close(oob);
		return NULL;
	}
	oob->ctx = listener->ctx;
	if (start(oob, sock_accept(listener->fd, &oob->peer), patience,
		  deadline)) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

int oob_handshake(struct oob *oob, struct turn *turn)
{
	/* A client that has not sent anything yet need not wait for a turn. */
	if (client_hello_wait(oob->fd, &oob->limit.patience,
			      oob->limit.deadline))
		return -1;
	oob->limit.turn = turn;
	return secure(oob, oob->ctx, NULL) ||
			       check_list(oob->ssl, oob->options) ?
		       -1 :
		       0;
}

int oob_who(const struct oob *oob, struct who *who)
{
	return who_is(who, SSL_get0_peer_certificate(oob->ssl));
}

int oob_hello(struct oob *oob, const struct hello *hello, int stop_fd)
{
	uint8_t body[PARAMS_MAX];

	oob->limit.patience.stop_fd = stop_fd;
	params_encode_hello(hello, body);
	if (send_message(oob, PARAMS_HELLO, body))
		return -1;
	/* That was all. End properly, so that the client can be sure of it. */
	if (!hello->number)
		SSL_shutdown(oob->ssl);
	return 0;
}

static int recv_hello(struct oob *oob, struct hello *hello)
{
	uint8_t wire[PARAMS_HEADER], body[PARAMS_MAX];
	size_t length = params_header(PARAMS_HELLO, wire);

	if (recv_header(oob, PARAMS_HELLO, "hello") ||
	    tls_read(oob->ssl, &oob->limit, body, length, "hello"))
		return -1;
	return params_decode_hello(hello, body, length);
}

struct oob *oob_connect(const struct oob *prepared,
			const struct options *options,
			const struct patience *patience, struct hello *hello,
			bool *passing)
{
	int64_t deadline = wait_deadline(patience->timeout_ms);
	struct oob *oob = new_oob();
	int fd;

	*passing = false;
	if (!oob)
		return NULL;
	fd = sock_connect(options->address, options->port, patience, deadline);
	/*
	 * In TLS 1.3 a client's handshake is over before the server has looked
	 * at the client's certificate: a refusal comes with the first read. So
	 * the server speaks first, and we do nothing until it has.
	 */
	if (start(oob, fd, patience, deadline) ||
	    sock_peer(oob->fd, &oob->peer) ||
	    secure(oob, prepared->ctx, options->address) ||
	    recv_hello(oob, hello)) {
		/* The server may be up, or have time, later. */
		*passing = fd == SOCK_PASSING || wait_deadline(0) >= deadline;
		oob_close(oob);
		return NULL;
	}
	return oob;
}

int oob_print_peer(const struct oob *oob)
{
	return who_print(oob->ssl);
}

const struct sockaddr *oob_peer(const struct oob *oob)
{
	return (const struct sockaddr *)&oob->peer;
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
	union ibv_gid gid;

	gid_of((const struct sockaddr *)&oob->peer, &gid);
	if (memcmp(&gid, &params->gid, sizeof(gid)))
		return log_fail(
			"the peer's GID is not the address that it was authenticated at: refused; is -g given");
	return 0;
}

int oob_recv_params(struct oob *oob, struct params *params, bool roce)
{
	static const char what[] = "the peer's parameters";
	uint8_t wire[PARAMS_HEADER], body[PARAMS_MAX];
	size_t length = params_header(PARAMS_PARAMS, wire);

	if (recv_header(oob, PARAMS_PARAMS, what) ||
	    tls_read(oob->ssl, &oob->limit, body, length, what) ||
	    params_decode(params, body, length, roce))
		return -1;
	/* A LID says nothing about an IP address, so we cannot check it. */
	return roce ? check_address(oob, params) : 0;
}

int oob_ready(struct oob *oob)
{
	if (send_message(oob, PARAMS_READY, NULL) ||
	    recv_header(oob, PARAMS_READY, "READY"))
		return -1;
	/*
	 * The rest of a record that OpenSSL has read makes no descriptor readable,
	 * so nobody would look at it. But the next word can only be a goodbye, and
	 * whoever says that has waited for more than our READY.
	 */
	if (SSL_pending(oob->ssl))
		return log_fail(
			"the peer sent something other than READY behind it, in the same record; is it another program");
	return 0;
}

int oob_check(struct oob *oob)
{
	/* The peer has this long to finish what it has begun to say. */
	oob->limit.deadline = wait_deadline(oob->limit.patience.timeout_ms);
	switch (tls_look(oob->ssl, &oob->limit)) {
	case TLS_BYTES:
		return recv_header(oob, PARAMS_BYE, "BYE") ? -1 : OOB_SAID_BYE;
	case TLS_NOTHING:
		return OOB_THERE;
	case TLS_GONE:
		return OOB_GONE;
	default:
		return -1;
	}
}

int oob_bye(struct oob *oob)
{
	uint8_t wire[PARAMS_HEADER];
	int n;

	params_header(PARAMS_BYE, wire);
	ERR_clear_error();
	n = SSL_write(oob->ssl, wire, sizeof(wire));
	if (n <= 0 && SSL_get_error(oob->ssl, n) != SSL_ERROR_SYSCALL)
		return tls_fail_ssl(oob->ssl, "SSL_write");
	/* Our close_notify follows: nothing after it is our goodbye. */
	if (n > 0)
		SSL_shutdown(oob->ssl);
	ERR_clear_error();
	return 0;
}

void oob_close(struct oob *oob)
{
	if (!oob)
		return;
	SSL_free(oob->ssl);
	SSL_CTX_free(oob->ctx);
	if (oob->fd >= 0)
		close(oob->fd);
	free(oob);
}
