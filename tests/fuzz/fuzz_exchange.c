/*
 * fuzz_exchange.c - 04's exchange, which is 05's as well, with a peer that is let in and says anything
 *
 * The peer is a client with a good certificate. The input says what it does, one
 * deed after another, the first byte of each of which says which one it is:
 *
 *	0, 1, 2	a length, and as many bytes of a message, in one TLS record
 *	3	a KeyUpdate; 4: one that asks for another; each with how often
 *	5	close_notify
 *	6	a length, and as many bytes behind TLS's back
 *	7	it reads all that is there
 *
 * So what it says may come out of turn, twice, glued together, in pieces or cut off.
 * The server must come to an end in time, and believe only parameters that make sense.
 * The certificates are in the folder FUZZ_CERTS: see test_fuzz.py.
 */
#include "oob.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "fuzz_params.h"

/* A side that is not done by then hangs: nobody here waits for anything. */
#define PATIENCE_MS 20000

/* As often may a peer that says so little make us look at what it has said. */
#define LOOKS_MAX 1000

static struct oob listening, *const listener = &listening;
static SSL_CTX *client;
static struct sockaddr_in there;

/* What the peer does, and what is left of it. */
struct deeds {
	const uint8_t *bytes;
	size_t left;
};

/* The name of a file; one call of them for each text, which stays. */
static const char *path(char text[256], const char *name)
{
	snprintf(text, 256, "%s/%s", getenv("FUZZ_CERTS"), name);
	return text;
}

static void need(int ok)
{
	if (!ok) {
		ERR_print_errors_fp(stderr);
		abort();
	}
}

static void open_client(void)
{
	static const unsigned char alpn[] = "\x0d" TLS_PROTOCOL;

	char text[256];

	client = SSL_CTX_new(TLS_client_method());
	need(client != NULL);
	need(SSL_CTX_use_certificate_file(client, path(text, "client.pem"),
					  SSL_FILETYPE_PEM) == 1);
	need(SSL_CTX_use_PrivateKey_file(client, path(text, "client.key"),
					 SSL_FILETYPE_PEM) == 1);
	need(!SSL_CTX_set_alpn_protos(client, alpn, sizeof(alpn) - 1));
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char names[3][256];
	socklen_t length = sizeof(there);
	const char *cert = path(names[0], "server.pem");
	const char *key = path(names[1], "server.key");
	const char *ca = path(names[2], "ca.pem");
	static struct oob_way way = { .address = "127.0.0.1", .port = "0" };

	way.files = (struct tls_files){ cert, key, ca };
	need(!oob_listen(listener, &way));
	(void)argc;
	(void)argv;
	need(!getsockname(listener->line.fd, (struct sockaddr *)&there,
			  &length));
	open_client();
	return 0;
}

static uint8_t next(struct deeds *deeds)
{
	if (!deeds->left)
		return 0;
	deeds->left--;
	return *deeds->bytes++;
}

/* Up to count bytes of the input. */
static const uint8_t *some(struct deeds *deeds, size_t *count)
{
	const uint8_t *bytes = deeds->bytes;

	if (*count > deeds->left)
		*count = deeds->left;
	deeds->bytes += *count;
	deeds->left -= *count;
	return bytes;
}

/* Returns 1, or less if the other side is gone. */
static int do_one(SSL *ssl, struct deeds *deeds)
{
	uint8_t deed = next(deeds) % 8, count, heard[4096];
	const uint8_t *bytes;
	size_t length;
	int ok = 1;

	switch (deed) {
	case 3:
	case 4:
		count = next(deeds) % 32;
		while (count-- && ok > 0)
			ok = SSL_key_update(ssl, deed == 4) == 1 ?
				     SSL_do_handshake(ssl) :
				     0;
		return ok;
	case 5:
		return SSL_shutdown(ssl) >= 0;
	case 7:
		while (recv(SSL_get_fd(ssl), heard, sizeof(heard),
			    MSG_DONTWAIT) > 0)
			;
		return 1;
	}
	length = next(deeds);
	bytes = some(deeds, &length);
	if (deed == 6)
		return send(SSL_get_fd(ssl), bytes, length, MSG_NOSIGNAL) >= 0;
	return length ? SSL_write(ssl, bytes, length) : 1;
}

static void *run_client(void *argument)
{
	struct deeds *deeds = argument;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	SSL *ssl = SSL_new(client);

	need(fd >= 0 && ssl != NULL &&
	     !connect(fd, (struct sockaddr *)&there, sizeof(there)));
	SSL_set_fd(ssl, fd);
	if (SSL_connect(ssl) == 1)
		while (deeds->left && do_one(ssl, deeds) > 0)
			;
	ERR_clear_error();
	SSL_free(ssl);
	/* Not close(): what it has not read would make that a reset. */
	shutdown(fd, SHUT_WR);
	return (void *)(long)fd;
}

static struct oob *let_in(const struct patience *patience)
{
	static struct oob oob;

	if (oob_next(listener, &oob) != 1)
		return NULL;
	if (!oob_accept(&oob, patience))
		return &oob;
	oob_close(&oob);
	return NULL;
}

/* As rdma.c does. Whatever happens, it ends. */
static void serve(struct oob *oob)
{
	const struct params mine = {
		.qpn = 0x11,
		.lid = 1,
		.mtu = IBV_MTU_1024,
		.mode = MODE_WRITE,
		.mem = { 0x1000, 1, 1024 },
	};
	struct params params;
	int looks = 0;

	/* With a LID, so that an address of this machine will do. */
	if (oob_recv_params(oob, &params, false))
		return;
	if (!is_fit(&params, false))
		abort();
	if (oob_send_params(oob, &mine) || oob_ready(oob))
		return;
	while (!oob->peer_done && !oob->peer_left) {
		if (looks++ > LOOKS_MAX ||
		    wait_readable(oob->line.fd, -1, -1,
				  wait_deadline(PATIENCE_MS)) <= 0)
			abort();
		if (oob_check(oob))
			return;
	}
	if (oob->peer_done)
		oob_bye(oob);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct patience patience = {
		.timeout_ms = PATIENCE_MS,
		.stop_fd = -1,
	};
	struct deeds deeds = { bytes, size };
	int64_t begin = wait_deadline(0);
	pthread_t thread;
	struct oob *oob;
	void *fd;

	need(!pthread_create(&thread, NULL, run_client, &deeds));
	need(wait_readable(listener->line.fd, -1, -1,
			   wait_deadline(PATIENCE_MS)) > 0);
	oob = let_in(&patience);
	if (oob)
		serve(oob);
	if (oob)
		oob_close(oob);
	need(!pthread_join(thread, &fd));
	close((int)(long)fd);
	/* It is never the peer's silence that ends it: the peer has left. */
	if (wait_deadline(0) - begin > PATIENCE_MS / 2)
		abort();
	return 0;
}
