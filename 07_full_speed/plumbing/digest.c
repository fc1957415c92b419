/*
 * digest.c - the SHA-256 of a file, computed while it passes
 */
#include "digest.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "log.h"

/* libcrypto fails here only if there is no memory. */
static int fail(const char *call)
{
	return log_fail("%s: no SHA-256; is there memory left", call);
}

int digest_begin(EVP_MD_CTX **ctx)
{
	*ctx = EVP_MD_CTX_new();
	if (!*ctx)
		return fail("EVP_MD_CTX_new");
	if (EVP_DigestInit_ex(*ctx, EVP_sha256(), NULL) != 1)
		return fail("EVP_DigestInit_ex");
	return 0;
}

int digest_add(EVP_MD_CTX *ctx, const void *data, size_t length)
{
	if (EVP_DigestUpdate(ctx, data, length) != 1)
		return fail("EVP_DigestUpdate");
	return 0;
}

int digest_so_far(const EVP_MD_CTX *ctx, uint8_t digest[DIGEST_SIZE])
{
	EVP_MD_CTX *copy = EVP_MD_CTX_new();
	int ret = -1;

	/* digest_end() ends this copy: the original continues. */
	if (!copy || EVP_MD_CTX_copy_ex(copy, ctx) != 1)
		fail("EVP_MD_CTX_copy_ex");
	else
		ret = digest_end(copy, digest);
	EVP_MD_CTX_free(copy);
	return ret;
}

int digest_end(EVP_MD_CTX *ctx, uint8_t digest[DIGEST_SIZE])
{
	if (EVP_DigestFinal_ex(ctx, digest, NULL) != 1)
		return fail("EVP_DigestFinal_ex");
	return 0;
}

int digest_add_file(EVP_MD_CTX *ctx, int fd, uint64_t length,
		    const struct pulse *pulse)
{
	char buf[65536];
	uint64_t at = 0;

	while (at < length) {
		size_t want =
			length - at < sizeof(buf) ? length - at : sizeof(buf);
		ssize_t n;

		if (pulse->beat(pulse->of))
			return 1;
		n = pread(fd, buf, want, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return log_fail_errno("pread", n ? errno : EIO,
					      "the file has become shorter");
		if (digest_add(ctx, buf, n))
			return -1;
		at += n;
	}
	return 0;
}

void digest_text(const uint8_t digest[DIGEST_SIZE],
		 char text[2 * DIGEST_SIZE + 1])
{
	for (int i = 0; i < DIGEST_SIZE; i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
}
