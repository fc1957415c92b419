/*
 * tls.c - TLS 1.3 with certificates on both sides
 *
 * Born in 04_tls_psn, last changed in 05_multiclient.
 */
#include "tls.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "log.h"

/* On the wire, an ALPN name is a length and that many bytes. */
static const unsigned char alpn[] = "\x0d" TLS_PROTOCOL;

_Static_assert(sizeof(alpn) == 1 + 0x0d + 1, "the length fits the name");

/* Server: the client must offer our protocol, and gets no other. */
static int select_protocol(SSL *ssl, const unsigned char **out,
			   unsigned char *out_length, const unsigned char *in,
			   unsigned int in_length, void *argument)
{
	unsigned char *selected;

	(void)ssl;
	(void)argument;
	if (SSL_select_next_proto(&selected, out_length, alpn, sizeof(alpn) - 1,
				  in, in_length) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = selected;
	return SSL_TLSEXT_ERR_OK;
}

static int load_files(SSL_CTX *ctx, const struct options *options)
{
	if (SSL_CTX_use_certificate_chain_file(ctx, options->cert) != 1)
		return tls_fail(options->cert, "a certificate for --cert; "
					       "`make certs` makes one");
	if (SSL_CTX_use_PrivateKey_file(ctx, options->key, SSL_FILETYPE_PEM) !=
	    1)
		return tls_fail(options->key,
				"the private key of --cert for --key; `make "
				"certs` makes both");
	if (SSL_CTX_check_private_key(ctx) != 1)
		return tls_fail("SSL_CTX_check_private_key",
				"--key is not the key of --cert; `make certs` "
				"makes a pair");
	if (SSL_CTX_load_verify_file(ctx, options->ca) != 1)
		return tls_fail(options->ca, "the CA that signed the peer's "
					     "certificate, for --ca");
	return 0;
}

/* What neither file nor peer can change. */
static int set_policy(SSL_CTX *ctx, enum role role)
{
	int verify = SSL_VERIFY_PEER;

	if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) != 1)
		return tls_fail("SSL_CTX_set_min_proto_version",
				"is this OpenSSL 3");
	/* Every connection proves who it is anew: nothing is resumed. */
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	/* Who is silent, as most of a thousand clients are, needs no buffer. */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	if (role == ROLE_SERVER) {
		/* Without this, a client may come without a certificate. */
		verify |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
		if (SSL_CTX_set_num_tickets(ctx, 0) != 1)
			return tls_fail("SSL_CTX_set_num_tickets",
					"is this OpenSSL 3");
		SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);
	} else if (SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn) - 1)) {
		/* This one returns 0 for success. */
		return tls_fail("SSL_CTX_set_alpn_protos", "out of memory");
	}
	/* The chain, and that the certificate is for its role, is OpenSSL's. */
	SSL_CTX_set_verify(ctx, verify, NULL);
	return 0;
}

SSL_CTX *tls_context(const struct options *options, enum role role)
{
	SSL_CTX *ctx = SSL_CTX_new(role == ROLE_SERVER ? TLS_server_method() :
							 TLS_client_method());

	/*
	 * OpenSSL writes to sockets with write(2): a peer that is gone must be
	 * an error there, not the end of the program.
	 */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
		log_fail_errno("signal", errno, "SIGPIPE");
		SSL_CTX_free(ctx);
		return NULL;
	}
	if (!ctx) {
		tls_fail("SSL_CTX_new", "out of memory");
		return NULL;
	}
	if (set_policy(ctx, role) || load_files(ctx, options)) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}

int tls_expect_peer(SSL *ssl, const char *name, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
	int ok;

	if (name) {
		/*
		 * A name or an address, as it stands: set1_host knows both. It
		 * must be a subjectAltName; the subject's CN does not count.
		 */
		SSL_set_hostflags(ssl,
				  X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
					  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
		ok = SSL_set1_host(ssl, name);
	} else if (addr->sa_family == AF_INET6) {
		ok = X509_VERIFY_PARAM_set1_ip(param, sin6->sin6_addr.s6_addr,
					       16);
	} else {
		ok = X509_VERIFY_PARAM_set1_ip(
			param, (const unsigned char *)&sin->sin_addr, 4);
	}
	if (ok != 1)
		return tls_fail("SSL_set1_host", "is -a a name or an address");
	return 0;
}
