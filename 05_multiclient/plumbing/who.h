/*
 * who.h - who a certificate is for, how long it lasts, and what a list lets it do
 */
#ifndef WHO_H
#define WHO_H

#include <openssl/ssl.h>

struct who {
	char identity[256]; /* the URI that names its owner; "": none */
	char serial[64]; /* the certificate's number, in hexadecimal digits */
};

/*
 * Reads who cert is for: the one URI in its subjectAltName. A certificate with
 * none, with several, or with one that is not plain text has no identity.
 * Returns 0, or -1 after reporting why not.
 */
int who_is(struct who *who, const X509 *cert);

/*
 * Whether the file list lets who do word, which is "write" or "read". The list
 * has a line for each identity: the URI, a blank, and write, read or both.
 * Empty lines and those that begin with # are ignored. The list is read again
 * each time; if it cannot be read, or has any other line, it lets nobody in.
 * Prints who is let in, and returns 0, or -1 after reporting why not.
 */
int who_may(const struct who *who, const char *list, const char *word);

/* Warns if less than a third of cert's lifetime is left. */
void who_warn(const X509 *cert, const char *file);

/*
 * Prints the subject of the certificate that the peer has shown, as one line of the
 * story. Returns 0, or -1 after reporting why not.
 */
int who_print(const SSL *ssl);

#endif
