/*
 * tls.c - TLS 1.3 with certificates on both sides: who we are, and whom we believe
 */
#include "tls.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "client_hello.h"
#include "log.h"
#include "tls_fail.h"
#include "who.h"

/* ---- Who we are, and whom we believe ---- */

/*
 * Anybody who can read the key can be us, and anybody who can write to it can
 * make us somebody else. As for ssh(1), nobody else may use a key that we own.
 * One that another user owns, such as root, may be shared with a group.
 */
static int check_rights(const char *key)
{
	struct stat st;
	mode_t others;

	/* OpenSSL opens it next, and says what is wrong if it cannot. */
	if (stat(key, &st))
		return 0;
	others = st.st_uid == geteuid() ? S_IRWXG | S_IRWXO : S_IRWXO;
	if (!(st.st_mode & others))
		return 0;
	return log_fail(
		"%s: with mode %04o, others on this machine can read or change this private key, and be us; chmod 600 %s [docs/troubleshooting.md#tls]",
		key, st.st_mode & 07777, key);
}

static int load_files(SSL_CTX *ctx, const struct tls_files *files)
{
	if (SSL_CTX_use_certificate_chain_file(ctx, files->cert) != 1)
		return tls_fail(
			files->cert,
			"a certificate for --cert; `make certs` makes one");
	who_warn(SSL_CTX_get0_certificate(ctx), files->cert);
	if (check_rights(files->key))
		return -1;
	if (SSL_CTX_use_PrivateKey_file(ctx, files->key, SSL_FILETYPE_PEM) != 1)
		return tls_fail(
			files->key,
			"the private key of --cert for --key; `make certs` makes both");
	if (SSL_CTX_check_private_key(ctx) != 1)
		return tls_fail(
			"SSL_CTX_check_private_key",
			"--key is not the key of --cert; `make certs` makes a pair");
	if (SSL_CTX_load_verify_file(ctx, files->ca) != 1)
		return tls_fail(
			files->ca,
			"the CA that signed the peer's certificate, for --ca");
	return 0;
}

/* ---- What is good enough ---- */

/*
 * OpenSSL checks the chain, and that the certificate is not for another role.
 * One that names no role would pass for both, so it must name one here.
 */
static int check_role(int ok, X509_STORE_CTX *store)
{
	X509 *cert = X509_STORE_CTX_get_current_cert(store);
	const SSL *ssl = X509_STORE_CTX_get_ex_data(
		store, SSL_get_ex_data_X509_STORE_CTX_idx());
	uint32_t role = SSL_is_server(ssl) ? XKU_SSL_CLIENT : XKU_SSL_SERVER;

	if (!ok || X509_STORE_CTX_get_error_depth(store))
		return ok;
	if (X509_get_extension_flags(cert) & EXFLAG_XKUSAGE &&
	    X509_get_extended_key_usage(cert) & role)
		return 1;
	X509_STORE_CTX_set_error(store, X509_V_ERR_INVALID_PURPOSE);
	return 0;
}

/*
 * How many bytes a peer's certificates may have, from its own up to the CA. A
 * peer that is not yet known says how many will come, and OpenSSL gets memory
 * for them at once. Three of them with RSA keys have less than half of this.
 */
#define CERTIFICATES_MAX (16 * 1024)

#define SUITES                                                 \
	"TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:" \
	"TLS_AES_128_GCM_SHA256"

/* Otherwise the system's openssl.cnf would decide how strong all of it is. */
static int set_strength(SSL_CTX *ctx)
{
	/* 112 bits, for our keys and the peer's: no RSA of 1024 bits. */
	SSL_CTX_set_security_level(ctx, 2);
	/* How many CAs may stand between the peer's certificate and --ca. */
	SSL_CTX_set_verify_depth(ctx, 1);
	SSL_CTX_set_max_cert_list(ctx, CERTIFICATES_MAX);
	/* These groups are those of client_hello.c. */
	if (SSL_CTX_set_ciphersuites(ctx, SUITES) != 1 ||
	    SSL_CTX_set1_groups_list(ctx, "X25519:P-256:P-384") != 1)
		return tls_fail("SSL_CTX_set_ciphersuites",
				"is this OpenSSL 3");
	return 0;
}

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

/* What only one side has to decide. */
static int set_role(SSL_CTX *ctx, bool server)
{
	if (!server) {
		/* This one returns 0 for success. */
		if (SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn) - 1))
			return tls_fail("SSL_CTX_set_alpn_protos",
					"out of memory");
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, check_role);
		return 0;
	}
	/* Without the second flag, a client may come without a certificate. */
	SSL_CTX_set_verify(ctx,
			   SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
			   check_role);
	SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);
	SSL_CTX_set_client_hello_cb(ctx, client_hello_refuse_second, NULL);
	if (SSL_CTX_set_num_tickets(ctx, 0) != 1)
		return tls_fail("SSL_CTX_set_num_tickets", "is this OpenSSL 3");
	return 0;
}

/* Settings that no file, system or peer can change. */
static int set_policy(SSL_CTX *ctx, bool server)
{
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) != 1)
		return tls_fail("SSL_CTX_set_min_proto_version",
				"is this OpenSSL 3");
	/* A call must return after each record, so that we check our deadline. */
	SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	/* A peer that is silent needs no buffer: in chapter 05, it is a thousand. */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	/* Every connection must prove who it is: nothing is resumed. */
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	if (set_role(ctx, server))
		return -1;
	return set_strength(ctx);
}

SSL_CTX *tls_context(const struct tls_files *files, bool server)
{
	SSL_CTX *ctx =
		SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());

	if (!ctx) {
		tls_fail("SSL_CTX_new", "out of memory");
		return NULL;
	}
	/*
	 * OpenSSL writes to sockets with write(2): if a peer is gone, that must
	 * be an error there, not the end of the program.
	 */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		log_fail_errno("signal", errno, "SIGPIPE");
	else if (!set_policy(ctx, server) && !load_files(ctx, files))
		return ctx;
	SSL_CTX_free(ctx);
	return NULL;
}

/* ---- One connection ---- */

/* Verifies the peer: its certificate must be for name, or for addr. */
static int expect_peer(SSL *ssl, const char *name, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
	int ok;

	if (name) {
		/*
		 * A name or an address: set1_host knows both. It must be a
		 * subjectAltName; the subject's CN does not count.
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

SSL *tls_new(SSL_CTX *ctx, int fd, const char *name,
	     const struct sockaddr *addr)
{
	SSL *ssl;

	ERR_clear_error();
	ssl = SSL_new(ctx);
	if (!ssl || SSL_set_fd(ssl, fd) != 1) {
		tls_fail("SSL_new", "out of memory");
	} else if (!expect_peer(ssl, name, addr)) {
		if (name)
			SSL_set_connect_state(ssl);
		else
			SSL_set_accept_state(ssl);
		return ssl;
	}
	SSL_free(ssl);
	return NULL;
}
