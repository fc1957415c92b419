/*
 * incoming.h - a file that arrives: whole, or not at all
 *
 * It is written beside its name, as .NAME.VERSION.part; when its length and its
 * SHA-256 are right, it gets its name, which no file may have, and, as its time, its version. If a part
 * of the same version of the file was left there, it is continued. If a file of
 * the same size and version is there, it was stored earlier and its sender was
 * not told, so nothing is left to do.
 */
#ifndef INCOMING_H
#define INCOMING_H

#include <stdbool.h>

#include "digest.h"
#include "filename.h"
#include "folder.h"
#include "refusal.h"

/* Zero it, set folder to an open one, then incoming_name(). */
struct incoming {
	struct folder *folder; /* borrowed */
	bool open;
	bool named; /* it has its name, so there is no part */
	int fd;
	char name[FILENAME_MAX_BYTES + 1];
	char part[FILENAME_MAX_BYTES + 32];
	uint64_t version; /* the time of its last change, in nanoseconds */
	uint64_t size; /* when it is whole */
	uint64_t at; /* bytes that are there */
	uint64_t synced; /* those that the disk has been told to keep */
	uint64_t counted; /* what its part is in folder->used, from before */
	EVP_MD_CTX *digest;
	uint8_t first[DIGEST_SIZE]; /* digest of what was there at first */
	uint8_t wanted[DIGEST_SIZE]; /* what the digest must be at the end */
};

/* Which file will come: its name (filename_is_good()), size and version. */
void incoming_name(struct incoming *in, const char *name, uint64_t size,
		   uint64_t version);

/*
 * Begins it; at is then how much of it is there already. It reads and hashes
 * that: first is its digest. Returns why the file is not taken, after reporting that;
 * REFUSAL_NONE; or -1 if the pulse has ended it.
 */
int incoming_begin(struct incoming *in, const struct pulse *pulse);

/*
 * Adds the next length bytes, to which the peer may still write: the digest is
 * of the bytes that are stored. Returns 0, or -1 after reporting why.
 */
int incoming_add(struct incoming *in, const void *data, size_t length);

/*
 * Ends it: checks length and digest, waits until the file is on the disk, and
 * gives it its name. Closes it in any case. Returns an enum refusal.
 */
int incoming_end(struct incoming *in);

/* Closes it; removes what is there of it, or keeps that to be continued. */
void incoming_drop(struct incoming *in, bool keep);

#endif
