/*
 * tls_fail.c - the errors of TLS in words
 */
#include "tls_fail.h"

#include <errno.h>
#include <string.h>

#include <openssl/err.h>

#include "log.h"

int tls_fail(const char *call, const char *hint)
{
	unsigned long err = ERR_peek_error();
	const char *reason = ERR_reason_error_string(err);

	/* OpenSSL passes the errno of a system call on as a reason. */
	if (ERR_SYSTEM_ERROR(err))
		reason = strerror(ERR_GET_REASON(err));
	log_fail("%s: %s; %s", call, reason ? reason : "failed", hint);
	ERR_clear_error();
	return -1;
}

/* What is wrong with the peer's certificate: codes of x509_vfy.h. */
static const char *verify_hint(long code)
{
	switch (code) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return "the peer's certificate has expired; `make certs` on its side, and is the clock right";
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return "the peer's certificate is from the future; is the clock right on both sides";
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return "the peer's certificate is for other names and addresses than the one that it is reached by, or comes from; see `openssl x509 -in CERT -noout -ext subjectAltName`";
	case X509_V_ERR_INVALID_PURPOSE:
		return "the peer's certificate is not for its role: a server needs one for servers, a client one for clients";
	default:
		return "the peer's certificate was not signed by the CA of --ca; both sides need certificates of one CA";
	}
}

/* What a reason means here; NULL: say what OpenSSL says. */
static const char *reason_hint(int reason)
{
	switch (reason) {
	case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
		return "the peer does not know the CA that signed our certificate; both sides need certificates of one CA";
	case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
		return "the peer wants a certificate from us; give --cert and --key";
	case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
		return "the client came without a certificate: refused";
	case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
		return "the peer says that our certificate has expired; `make certs`";
	case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
		return "the peer refuses our certificate; see what it says";
	case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
		return "our certificate is not for this role; a server needs one for servers, a client one for clients";
	case SSL_R_CALLBACK_FAILED:
		return "the client has sent no key of X25519, P-256 or P-384, and is not asked for a second ClientHello; is it another program";
	case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
	case SSL_R_UNSUPPORTED_PROTOCOL:
		return "one side is older than TLS 1.3, which is the only version here";
	case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
	case SSL_R_NO_APPLICATION_PROTOCOL:
		return "the other side speaks another protocol inside TLS; is it the program of another chapter";
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_HTTP_REQUEST:
	case SSL_R_PACKET_LENGTH_TOO_LONG:
	case SSL_R_BAD_RECORD_TYPE:
		return "the other side does not speak TLS at all; is it 03's program, or is -p wrong";
	case SSL_R_UNEXPECTED_EOF_WHILE_READING:
		return "the peer closed the connection without a goodbye; see what it says, or whether somebody cut it";
	default:
		return NULL;
	}
}

int tls_fail_ssl(const SSL *ssl, const char *what)
{
	unsigned long err = ERR_peek_error();
	const char *reason = ERR_reason_error_string(err);
	const char *hint = reason_hint(ERR_GET_REASON(err));
	long verify = SSL_get_verify_result(ssl);
	int saved = errno;

	/* OpenSSL 3.5 queues the errno of a system call; 3.0 leaves it where it is. */
	if (ERR_SYSTEM_ERROR(err))
		saved = ERR_GET_REASON(err);
	ERR_clear_error();
	/* The queue begins with the first error that its check found. */
	if (verify != X509_V_OK)
		return log_fail(
			"%s: certificate verify failed (%ld, %s); %s [docs/troubleshooting.md#tls]",
			what, verify, X509_verify_cert_error_string(verify),
			verify_hint(verify));
	if (!err || ERR_SYSTEM_ERROR(err))
		return log_fail(
			"%s: %s; is the peer still alive [docs/troubleshooting.md#left]",
			what,
			saved ? strerror(saved) :
				"the peer closed the connection");
	return log_fail("%s: %s; %s [docs/troubleshooting.md#tls]", what,
			reason ? reason : "failed",
			hint ? hint : "see what the peer says");
}
