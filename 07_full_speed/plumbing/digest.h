/*
 * digest.h - the SHA-256 of a file, computed while it passes
 */
#ifndef DIGEST_H
#define DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "pulse.h"

#define DIGEST_SIZE 32

/*
 * All return 0, or -1 after reporting why. End with EVP_MD_CTX_free(), even if
 * it is NULL.
 */
int digest_begin(EVP_MD_CTX **ctx);
int digest_add(EVP_MD_CTX *ctx, const void *data, size_t length);
int digest_so_far(const EVP_MD_CTX *ctx, uint8_t digest[DIGEST_SIZE]);
int digest_end(EVP_MD_CTX *ctx, uint8_t digest[DIGEST_SIZE]);

/* Adds the first length bytes of the file fd; returns 1 if the pulse ends that. */
int digest_add_file(EVP_MD_CTX *ctx, int fd, uint64_t length,
		    const struct pulse *pulse);

/* As text: two digits for each byte, and a zero. */
void digest_text(const uint8_t digest[DIGEST_SIZE],
		 char text[2 * DIGEST_SIZE + 1]);

#endif
