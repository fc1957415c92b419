/*
 * tls_certs.h - certificates of every kind, good and bad, made by the test
 *
 * For one test program: everything here is static. Include it after cmocka.h.
 */
#ifndef TLS_CERTS_H
#define TLS_CERTS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* What is in a certificate. NULL and 0: not there, or as it should be. */
struct spec {
	const char *cn, *san;
	const char *eku; /* "clientAuth", … */
	long from, until; /* in seconds from now; until 0: an hour */
	int rsa_bits; /* 0: on P-256 */
	bool ca;
};

struct cert {
	EVP_PKEY *key;
	X509 *x509;
};

static void add_extension(X509 *x509, int nid, const char *value)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	assert_non_null(extension);
	assert_int_equal(X509_add_ext(x509, extension, -1), 1);
	X509_EXTENSION_free(extension);
}

/* issuer NULL: it signs itself. */
static struct cert make_cert(const struct spec *spec, const struct cert *issuer)
{
	struct cert cert = { .x509 = X509_new() };
	X509_NAME *name = X509_get_subject_name(cert.x509);
	static long serial;

	cert.key = spec->rsa_bits ? EVP_RSA_gen(spec->rsa_bits) :
				    EVP_EC_gen("P-256");
	assert_non_null(cert.key);
	X509_set_version(cert.x509, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(cert.x509), ++serial);
	X509_gmtime_adj(X509_getm_notBefore(cert.x509), spec->from);
	X509_gmtime_adj(X509_getm_notAfter(cert.x509),
			spec->until ? spec->until : 3600);
	if (spec->cn)
		X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
					   (const unsigned char *)spec->cn, -1,
					   -1, 0);
	X509_set_issuer_name(
		cert.x509, issuer ? X509_get_subject_name(issuer->x509) : name);
	X509_set_pubkey(cert.x509, cert.key);
	add_extension(cert.x509, NID_basic_constraints,
		      spec->ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
	add_extension(cert.x509, NID_key_usage,
		      spec->ca ? "critical,keyCertSign" :
				 "critical,digitalSignature");
	if (spec->san)
		add_extension(cert.x509, NID_subject_alt_name, spec->san);
	if (spec->eku)
		add_extension(cert.x509, NID_ext_key_usage, spec->eku);
	assert_true(X509_sign(cert.x509, issuer ? issuer->key : cert.key,
			      EVP_sha256()) > 0);
	return cert;
}

static void free_cert(struct cert *cert)
{
	EVP_PKEY_free(cert->key);
	X509_free(cert->x509);
}

static char folder[] = "/tmp/tls_certs.XXXXXX";

/* The name of a file in the folder of this test. */
static const char *file_name(char path[64], const char *name)
{
	snprintf(path, 64, "%s/%s", folder, name);
	return path;
}

/* As our programs read it: NAME.pem and NAME.key. */
static __attribute__((unused)) void write_cert(const struct cert *cert,
					       const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.pem", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(PEM_write_X509(file, cert->x509), 1);
	fclose(file);
	snprintf(path, sizeof(path), "%s/%s.key", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fchmod(fileno(file), 0600), 0);
	assert_int_equal(PEM_write_PrivateKey(file, cert->key, NULL, NULL, 0,
					      NULL, NULL),
			 1);
	fclose(file);
}

static __attribute__((unused)) void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
}

/*
 * The worst that a system's openssl.cnf can ask for. OpenSSL reads it when it
 * is first used, so this has to come before.
 */
static __attribute__((unused)) void weaken_openssl(void)
{
	char path[64];
	FILE *file;

	assert_non_null(mkdtemp(folder));
	file = fopen(file_name(path, "openssl.cnf"), "w");
	assert_non_null(file);
	fputs("openssl_conf = all\n"
	      "[all]\nssl_conf = ssl\n"
	      "[ssl]\nsystem_default = weak\n"
	      "[weak]\nMinProtocol = TLSv1\nMaxProtocol = TLSv1.3\n"
	      "CipherString = ALL:@SECLEVEL=0\n"
	      "Ciphersuites = TLS_AES_128_CCM_8_SHA256:TLS_AES_128_CCM_SHA256:"
	      "TLS_AES_128_GCM_SHA256\n"
	      "Groups = X25519:P-521:P-256\nVerifyMode = Request\n",
	      file);
	fclose(file);
	setenv("OPENSSL_CONF", path, 1);
}

#endif
