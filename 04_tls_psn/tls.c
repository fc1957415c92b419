/*
 * tls.c - TLS 1.3 with certificates on both sides
 */
#include "tls.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "client_hello.h"
#include "log.h"
#include "sock.h"
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

/* ---- The handshake ---- */

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
	struct tls *tls = argument;

	(void)version;
	(void)bytes;
	(void)length;
	(void)ssl;
	if (!is_sent && type == SSL3_RT_HANDSHAKE)
		tls->late++;
}

static int check_late(const struct tls *tls, const char *what)
{
	if (tls->late <= LATE_MAX)
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
static int again(const struct tls *tls, int ret, const char *what)
{
	int fd = SSL_get_fd(tls->ssl), stop_fd = tls->patience.stop_fd;
	int error = SSL_get_error(tls->ssl, ret);

	if (check_late(tls, what))
		return -1;
	switch (error) {
	case SSL_ERROR_WANT_READ:
		ret = wait_readable(fd, -1, stop_fd, tls->deadline);
		break;
	case SSL_ERROR_WANT_WRITE:
		ret = wait_writable(fd, stop_fd, tls->deadline);
		break;
	case SSL_ERROR_ZERO_RETURN:
		return log_fail(
			"%s: the peer closed the connection instead; see what it says [docs/troubleshooting.md#left]",
			what);
	default:
		return tls_fail_ssl(tls->ssl, what);
	}
	return ret < 0 ? wait_fail(what, errno, &tls->patience) : 1;
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

/* Before each call: errors that are still in the queue would look like its own. */
static void clear_errors(void)
{
	ERR_clear_error();
	errno = 0;
}

int tls_handshake(struct tls *tls, SSL_CTX *ctx, int fd, const char *name,
		  const struct sockaddr *addr)
{
	int ret;

	clear_errors();
	tls->ssl = SSL_new(ctx);
	if (!tls->ssl || SSL_set_fd(tls->ssl, fd) != 1)
		return tls_fail("SSL_new", "out of memory");
	if (expect_peer(tls->ssl, name, addr))
		return -1;
	if (name)
		SSL_set_connect_state(tls->ssl);
	else
		SSL_set_accept_state(tls->ssl);
	do {
		clear_errors();
		ret = SSL_do_handshake(tls->ssl);
	} while (ret != 1 && again(tls, ret, "TLS handshake") > 0);
	if (ret != 1)
		return -1;
	/* From now on, any handshake message comes too late. */
	SSL_set_msg_callback(tls->ssl, count_late);
	SSL_set_msg_callback_arg(tls->ssl, tls);
	if (check_protocol(tls->ssl))
		return -1;
	return who_print(tls->ssl);
}

/* ---- What is said ---- */

int tls_write(struct tls *tls, const void *bytes, size_t length)
{
	size_t n;
	int ret;

	/* OpenSSL sends all of it, or asks to be called again, with the same. */
	do {
		clear_errors();
		ret = SSL_write_ex(tls->ssl, bytes, length, &n);
	} while (ret != 1 && again(tls, ret, "sending to the peer") > 0);
	return ret == 1 ? 0 : -1;
}

int tls_read(struct tls *tls, char *byte, const char *what)
{
	size_t n;
	int ret;

	do {
		clear_errors();
		ret = SSL_read_ex(tls->ssl, byte, 1, &n);
	} while (ret != 1 && again(tls, ret, what) > 0);
	return ret == 1 ? 0 : -1;
}

bool tls_is_gone(const struct tls *tls, int ret)
{
	/* OpenSSL 3.5 queues the errno of a system call; 3.0 leaves it where it is. */
	unsigned long queued = ERR_peek_error();
	int reason = ERR_GET_REASON(queued), saved = errno;
	int error = SSL_get_error(tls->ssl, ret);

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

int tls_look(struct tls *tls)
{
	uint8_t byte;
	size_t n;
	int ret;

	clear_errors();
	ret = SSL_peek_ex(tls->ssl, &byte, 1, &n);
	switch (SSL_get_error(tls->ssl, ret)) {
	case SSL_ERROR_NONE:
		return TLS_BYTES;
	case SSL_ERROR_WANT_READ:
		return check_late(tls, "TLS") ? -1 : TLS_NOTHING;
	case SSL_ERROR_WANT_WRITE:
		/*
		 * There is no room for an answer to a key update. There may be
		 * more to read, so waiting for that would return at once.
		 */
		return again(tls, ret, "TLS") < 0 ? -1 : TLS_NOTHING;
	default:
		if (!tls_is_gone(tls, ret))
			return tls_fail_ssl(tls->ssl, "TLS");
		ERR_clear_error();
		return TLS_GONE;
	}
}
