/*
 * test_04_who.c - who a certificate is for, how long it lasts, and what a list says
 */
#include "who.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/x509v3.h>

#include "test.h"

#define ALICE "spiffe://rdma.example/client/alice"

/* What is in a certificate, which signs itself, on P-256. */
struct spec {
	const char *san; /* NULL: none */
	long from, until; /* in seconds from now; until 0: an hour */
};

static X509 *make_cert(const struct spec *spec)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();
	X509_EXTENSION *san;

	assert_true(key && cert);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), 0x1a2b3c);
	X509_gmtime_adj(X509_getm_notBefore(cert), spec->from);
	X509_gmtime_adj(X509_getm_notAfter(cert),
			spec->until ? spec->until : 3600);
	X509_set_pubkey(cert, key);
	if (spec->san) {
		san = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name,
					  spec->san);
		assert_int_equal(X509_add_ext(cert, san, -1), 1);
		X509_EXTENSION_free(san);
	}
	assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
	EVP_PKEY_free(key);
	return cert;
}

static struct who who_of(const char *san)
{
	X509 *cert = make_cert(&(struct spec){ .san = san });
	struct who who;

	assert_int_equal(who_is(&who, cert), 0);
	X509_free(cert);
	return who;
}

/* One URI, all of it, and plain text; or none. */
TEST(identity)
{
	static const char beyond[] = "URI:spiffe://rdma.example/\x1b[2J";
	char longest[256 + 8] = "URI:", more[256 + 8] = "URI:";

	memset(longest + 4, 'a', 255);
	memset(more + 4, 'a', 256);
	assert_string_equal(who_of("IP:192.0.2.1,URI:" ALICE).identity, ALICE);
	assert_string_equal(who_of("IP:192.0.2.1,DNS:a").identity, "");
	assert_string_equal(who_of(NULL).identity, "");
	/* As OpenSSL prints it. */
	assert_string_equal(who_of(NULL).serial, "1A2B3C");
	assert_string_equal(who_of("URI:" ALICE ",URI:x:y").identity, "");
	assert_string_equal(who_of("URI:x:y,IP:192.0.2.1,URI:" ALICE).identity,
			    "");
	assert_string_equal(who_of("URI:x:a b").identity, "");
	assert_string_equal(who_of("URI:x:~!").identity, "x:~!");
	assert_string_equal(who_of("URI:x:\x7f").identity, "");
	assert_string_equal(who_of(beyond).identity, "");
	assert_string_equal(who_of(longest).identity, longest + 4);
	assert_string_equal(who_of(more).identity, "");
}

static char list[] = "/tmp/who_list.XXXXXX";

static int open_list(void **state)
{
	int fd = mkstemp(list);

	(void)state;
	return fd < 0 || close(fd);
}

static int close_list(void **state)
{
	(void)state;
	return unlink(list);
}

/* What is said of identity, which wants to do word, with such a list. */
static int ask(const char *text, const char *identity, const char *word)
{
	struct who who = { .serial = "1A" };
	FILE *file = fopen(list, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	snprintf(who.identity, sizeof(who.identity), "%s", identity);
	return CAPTURED(who_may(&who, list, word));
}

static const struct {
	const char *text, *word, *error;
} lists[] = {
	{ ALICE " write\n", "write", NULL },
	{ ALICE " write\n", "read", ", may not read, says " },
	{ ALICE " read\n", "read", NULL },
	{ ALICE " read\n", "write", ", may not write, says " },
	{ ALICE " both", "read", NULL },
	{ "# all\n\n  x:y both\n\t" ALICE "\t both \n", "write", NULL },
	{ ALICE " write\n" ALICE " read\n", "write", NULL },
	{ "", "write", ", may not write, says " },
	{ "#" ALICE " both\n", "write", ", may not write, says " },
	{ ALICE "/laptop both\n", "write", ", may not write, says " },
	{ "spiffe://rdma.example/client both\n", "write",
	  ", may not write, says " },
	{ "SPIFFE://rdma.example/client/alice both\n", "write",
	  ", may not write, says " },
	/* Nobody knows what was meant, so nobody is let in by the rest. */
	{ ALICE "\n", "write", ": line 1 is not an identity followed by " },
	{ ALICE " both\nx:y all\n", "write", ": line 2 is not an identity" },
	{ "x:y write read\n" ALICE " both\n", "write", ": line 1 is not an " },
};

TEST_AROUND(lists, open_list, close_list)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		int ret = ask(lists[i].text, ALICE, lists[i].word);

		assert_int_equal(ret, lists[i].error ? -1 : 0);
		if (lists[i].error)
			assert_one_line(said.err, lists[i].error);
		else
			assert_non_null(
				strstr(said.out, ALICE ", serial 1A\n"));
	}
	assert_int_equal(ask("x:y both\n", "", "write"), -1);
	assert_one_line(said.err, "names no identity");
}

TEST(no_list)
{
	const struct who who = { .identity = ALICE };
	int ret = CAPTURED(who_may(&who, "/no/such/list", "write"));

	assert_int_equal(ret, -1);
	assert_one_line(said.err, "nobody is let in");
}

/* What is said of one that is good from so many seconds on, until others. */
static const char *warning(long from, long until)
{
	X509 *cert = make_cert(&(struct spec){ .from = from, .until = until });

	CAPTURE(who_warn(cert, "some.pem"));
	X509_free(cert);
	return said.out;
}

/* In good time: a third of its life before. */
TEST(warnings)
{
	assert_string_equal(warning(0, 90000), "");
	assert_string_equal(warning(-59000, 31000), "");
	assert_non_null(
		strstr(warning(-61000, 28900), "some.pem expires in 8 h, "));
	assert_non_null(strstr(warning(-90000, -10), "some.pem has expired"));
}
