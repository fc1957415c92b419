/*
 * incoming.h - a file that arrives: whole, or not at all
 *
 * It is written beside its name, as .NAME.VERSION.part; when its length and its
 * SHA-256 are right, it gets its name and, as its time, its version. A part that was
 * left there, of the same version of the file, is gone on with; and a file that is
 * there, of the same size and version, is all that was wanted: nobody heard of it.
 */
#ifndef INCOMING_H
#define INCOMING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "digest.h"
#include "filename.h"
#include "folder.h"

/* What became of a call: why was said, unless it went well. */
enum {
	INCOMING_OK = 0,
	INCOMING_FAILED, /* the disk, or somebody who works with the same part */
	INCOMING_WRONG, /* it is not what was sent */
	INCOMING_THERE, /* a file of that name is */
	INCOMING_FULL /* there is no room for so much */
};

/* Zero it, and set folder: an open one; then incoming_name() for each file. */
struct incoming {
	struct folder *folder; /* borrowed */
	bool open;
	bool named; /* it has its name: there is no part, or not any more */
	int fd;
	char name[FILENAME_MAX_BYTES + 1];
	char part[FILENAME_MAX_BYTES + 32];
	uint64_t version; /* the time of its last change, in nanoseconds */
	uint64_t size; /* when it is whole */
	uint64_t at; /* bytes that are there */
	EVP_MD_CTX *digest;
	uint8_t first[DIGEST_SIZE]; /* what that was of the bytes that were there */
	uint8_t wanted[DIGEST_SIZE]; /* what that must be at the end */
};

/* Which file is to come: its name, which filename_is_good(), size and version. */
void incoming_name(struct incoming *in, const char *name, uint64_t size,
		   uint64_t version);

/*
 * Begins it; at is then what is there of it already. That is read and hashed, until
 * the end, or *stop: first is its digest. Returns INCOMING_....
 */
int incoming_begin(struct incoming *in, const atomic_bool *stop);

/*
 * The next length bytes, which the peer may still write to: the digest is of those
 * that are stored. Returns 0, or -1 having said why.
 */
int incoming_add(struct incoming *in, const void *data, size_t length);

/*
 * That was all: checks length and digest, and gives the file its name, when it is on
 * the disk, which takes as long as that takes. Returns INCOMING_...; in any case, it
 * is closed.
 */
int incoming_end(struct incoming *in);

/* Closes it; what is there of it goes, or is kept to be gone on with. */
void incoming_drop(struct incoming *in, bool keep);

#endif
