/*
 * incoming.h - a file that arrives: whole, or not at all
 *
 * It is written beside its name, as .NAME.VERSION.part; when its length and its
 * SHA-256 are right, it gets its name. A part that was left there, of the same
 * version of the file, is gone on with.
 */
#ifndef INCOMING_H
#define INCOMING_H

#include <stdbool.h>

#include "digest.h"

/* The longest name, so that what is put around it fits. */
#define INCOMING_NAME 200

/* Zero it, and set directory: an open one. */
struct incoming {
	int directory; /* borrowed */
	bool open;
	bool named; /* so there is no part any more */
	int fd;
	char name[INCOMING_NAME + 1];
	char part[INCOMING_NAME + 32];
	uint64_t size; /* when it is whole */
	uint64_t at; /* bytes that are there */
	EVP_MD_CTX *digest;
};

/* Whether a file may have that name: it is one, and stays in the directory. */
bool incoming_is_name(const char *name, size_t length);

/*
 * Begins the file of that name, size and version; at is then what is there of it
 * already. Returns 0, or -1 having said why.
 */
int incoming_begin(struct incoming *in, const char *name, uint64_t size,
		   uint64_t version);

/*
 * The next length bytes, which the peer may still write to: the digest is of those
 * that are stored. Returns 0, or -1 having said why.
 */
int incoming_add(struct incoming *in, const void *data, size_t length);

/*
 * That was all: checks length and digest, and gives the file its name. Returns 0;
 * 1 having said that it is not what was sent; or -1 having said why not.
 */
int incoming_end(struct incoming *in, const uint8_t digest[DIGEST_SIZE]);

/* Closes it; what is there of it goes, or is kept to be gone on with. */
void incoming_drop(struct incoming *in, bool keep);

#endif
