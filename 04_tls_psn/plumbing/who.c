/*
 * who.c - who a certificate is for, how long it lasts, and what a list lets it do
 */
#include "who.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/x509v3.h>

#include "log.h"
#include "tls_fail.h"

/* A URI has neither blanks nor control characters, nor a zero inside. */
static bool is_plain(const ASN1_STRING *uri)
{
	const unsigned char *bytes = ASN1_STRING_get0_data(uri);

	for (int i = 0; i < ASN1_STRING_length(uri); i++)
		if (bytes[i] <= ' ' || bytes[i] >= 0x7f)
			return false;
	return true;
}

/* The only URI among names; NULL if there are more, or none. */
static const ASN1_STRING *only_uri(GENERAL_NAMES *names)
{
	const ASN1_STRING *uri = NULL;

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

		if (name->type != GEN_URI)
			continue;
		if (uri)
			return NULL;
		uri = name->d.uniformResourceIdentifier;
	}
	return uri;
}

static int take_serial(struct who *who, const X509 *cert)
{
	BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(cert), NULL);
	char *digits = number ? BN_bn2hex(number) : NULL;

	BN_free(number);
	if (!digits)
		return tls_fail("BN_bn2hex", "out of memory");
	snprintf(who->serial, sizeof(who->serial), "%s", digits);
	OPENSSL_free(digits);
	return 0;
}

int who_is(struct who *who, const X509 *cert)
{
	GENERAL_NAMES *names =
		X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	const ASN1_STRING *uri = only_uri(names);

	*who = (struct who){ 0 };
	/* One that does not fit is not cut: it would be somebody else's. */
	if (uri && is_plain(uri) &&
	    (size_t)ASN1_STRING_length(uri) < sizeof(who->identity))
		memcpy(who->identity, ASN1_STRING_get0_data(uri),
		       ASN1_STRING_length(uri));
	GENERAL_NAMES_free(names);
	return take_serial(who, cert);
}

/* What a line of the list says. */
enum line {
	LINE_WRONG, /* nothing that can be understood */
	LINE_OTHER, /* of another identity, or of none */
	LINE_REFUSES, /* its identity may do something else */
	LINE_ALLOWS
};

static enum line read_line(char *line, const char *identity, const char *word)
{
	char *rest, *name = strtok_r(line, " \t\n", &rest);
	const char *may = name ? strtok_r(NULL, " \t\n", &rest) : NULL;

	if (!name || *name == '#')
		return LINE_OTHER;
	if (!may || strtok_r(NULL, " \t\n", &rest) ||
	    (strcmp(may, "write") && strcmp(may, "read") &&
	     strcmp(may, "both")))
		return LINE_WRONG;
	/* Compare all of it: /alice is not /alice/laptop. */
	if (strcmp(name, identity))
		return LINE_OTHER;
	return strcmp(may, word) && strcmp(may, "both") ? LINE_REFUSES :
							  LINE_ALLOWS;
}

/* Reads the whole list, since any line may be wrong. */
static int find(FILE *file, const struct who *who, const char *list,
		const char *word, enum line *found)
{
	unsigned int number = 0, wrong = 0;
	char *line = NULL;
	size_t size = 0;

	*found = LINE_OTHER;
	while (getline(&line, &size, file) > 0) {
		enum line says = read_line(line, who->identity, word);

		number++;
		if (says == LINE_WRONG && !wrong)
			wrong = number;
		if (says > *found)
			*found = says;
	}
	free(line);
	/* An error, or no memory for a line. */
	if (!feof(file))
		return log_fail_errno(list, errno, "nobody is let in");
	if (wrong)
		return log_fail(
			"%s: line %u is not an identity followed by write, read or both; nobody is let in",
			list, wrong);
	return 0;
}

int who_may(const struct who *who, const char *list, const char *word)
{
	FILE *file = fopen(list, "re");
	enum line found;
	int ret;

	if (!file)
		return log_fail_errno(
			list, errno,
			"the list of those who may come, for --list; nobody is let in");
	ret = find(file, who, list, word, &found);
	fclose(file);
	if (ret)
		return -1;
	if (!*who->identity)
		return log_fail(
			"the certificate with the serial %s names no identity: refused; see `openssl x509 -in CERT -noout -ext subjectAltName`, which must have one URI [docs/troubleshooting.md#tls]",
			who->serial);
	if (found != LINE_ALLOWS)
		return log_fail(
			"%s, serial %s, may not %s, says %s: refused [docs/troubleshooting.md#tls]",
			who->identity, who->serial, word, list);
	log_line("let in to %s: %s, serial %s", word, who->identity,
		 who->serial);
	return 0;
}

static double seconds(const ASN1_TIME *from, const ASN1_TIME *to)
{
	int days = 0, rest = 0;

	/* NULL means now. */
	if (ASN1_TIME_diff(&days, &rest, from, to) != 1)
		return 0;
	return days * 86400.0 + rest;
}

void who_warn(const X509 *cert, const char *file)
{
	const ASN1_TIME *end = X509_get0_notAfter(cert);
	double left = seconds(NULL, end);

	if (left < 0)
		log_line(
			"warning: %s has expired, and no peer will take it; `make certs` makes a new one",
			file);
	else if (left < seconds(X509_get0_notBefore(cert), end) / 3)
		log_line(
			"warning: %s expires in %.0f h, and then no peer will take it; `make certs` makes a new one",
			file, left / 3600);
}

/* The peer chooses its subject, which may be long; keep the line short. */
#define SUBJECT_MAX 200

int who_print(const SSL *ssl)
{
	const X509 *cert = SSL_get0_peer_certificate(ssl);
	BIO *bio = BIO_new(BIO_s_mem());
	const char *text = "";
	long length = 0;

	/* Writes all but plain ASCII as \XX, so that it stays one line. */
	if (!cert || !bio ||
	    X509_NAME_print_ex(bio, X509_get_subject_name(cert), 0,
			       XN_FLAG_RFC2253) < 0) {
		BIO_free(bio);
		return tls_fail("X509_NAME_print_ex", "out of memory");
	}
	length = BIO_get_mem_data(bio, &text);
	log_text("authenticated peer: ", text,
		 length > SUBJECT_MAX ? SUBJECT_MAX : length);
	BIO_free(bio);
	return 0;
}
