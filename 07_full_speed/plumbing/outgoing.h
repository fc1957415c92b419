/*
 * outgoing.h - a file that is read to be sent: as it was when it was opened, or not at all
 */
#ifndef OUTGOING_H
#define OUTGOING_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/stat.h>

#include "digest.h"
#include "filename.h"

struct outgoing {
	char shown[FILENAME_SHOWN]; /* its path, fit for a terminal */
	const char *name; /* without its folders */
	int fd;
	struct stat found; /* what it was like when it was opened */
	uint64_t version; /* changes when the file does */
	uint64_t size, at; /* bytes: in all, and that were read */
	uint64_t kept; /* bytes that the peer had of it when it was last asked */
	EVP_MD_CTX *digest; /* of those */
	uint8_t sha256[DIGEST_SIZE]; /* of all, at the end */
};

/*
 * All return 0, or -1 after reporting why, unless it says otherwise. End with
 * outgoing_close(), whether it could be opened or not.
 */
int outgoing_open(struct outgoing *out, const char *path);
void outgoing_close(struct outgoing *out);

/*
 * Begins, or begins anew, behind the first bytes: the peer has these, and their
 * digest is theirs. Reports if they are not ours. Returns 1 if the pulse ends that.
 */
int outgoing_go_on(struct outgoing *out, uint64_t bytes, const void *theirs,
		   const struct pulse *pulse);

/* Reads the next part, of size bytes at most. Returns how many there are, or -1. */
int outgoing_read(struct outgoing *out, char *part, size_t size);

/* All was read: is it still the same file? */
int outgoing_end(struct outgoing *out);

#endif
