/*
 * 07_file_time.c - what a file takes beside the network: each step, alone
 *
 * Reads FILE in pieces into a ring of 64 of them, hashes it there, copies each piece
 * and writes it to COPY, and flushes that, as chapter 07's two ends do. Prints the
 * milliseconds of each step: the fewest of three times.
 *
 * usage: 07_file_time FILE COPY BYTES
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>

#define DEPTH 64

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* Returns how many pieces there were. */
static size_t copy_in(int fd, char *ring, size_t bytes)
{
	size_t n = 0;

	while (pread(fd, ring + n % DEPTH * bytes, bytes, n * bytes) ==
	       (ssize_t)bytes)
		n++;
	return n;
}

static void hash(const char *ring, size_t bytes, size_t pieces)
{
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	uint8_t sha[EVP_MAX_MD_SIZE];
	int ok = digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL);

	for (size_t i = 0; i < pieces && ok; i++)
		ok = EVP_DigestUpdate(digest, ring + i % DEPTH * bytes, bytes);
	if (!ok || !EVP_DigestFinal_ex(digest, sha, NULL))
		errx(1, "no SHA-256");
	EVP_MD_CTX_free(digest);
}

static void copy_out(int fd, const char *ring, size_t bytes, size_t pieces)
{
	char *copy = malloc(bytes);

	for (size_t i = 0; i < pieces && copy; i++) {
		memcpy(copy, ring + i % DEPTH * bytes, bytes);
		if (pwrite(fd, copy, bytes, i * bytes) != (ssize_t)bytes)
			err(1, "pwrite");
	}
	free(copy);
}

/* What takes fewer milliseconds than in ms is put there. */
static void once(int from, const char *copy, char *ring, size_t bytes,
		 double *ms)
{
	int to = open(copy, O_WRONLY | O_CREAT | O_EXCL, 0600);
	double at[5] = { now_ms() };
	size_t pieces = copy_in(from, ring, bytes);

	at[1] = now_ms();
	hash(ring, bytes, pieces);
	at[2] = now_ms();
	copy_out(to, ring, bytes, pieces);
	at[3] = now_ms();
	if (fsync(to) || close(to) || unlink(copy))
		err(1, "%s", copy);
	at[4] = now_ms();
	for (int i = 0; i < 4; i++)
		if (at[i + 1] - at[i] < ms[i])
			ms[i] = at[i + 1] - at[i];
}

int main(int argc, char **argv)
{
	size_t bytes = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	char *ring = bytes ? calloc(DEPTH, bytes) : NULL;
	double ms[4] = { 1e9, 1e9, 1e9, 1e9 };
	int from;

	if (!ring)
		errx(2, "usage: 07_file_time FILE COPY BYTES");
	from = open(argv[1], O_RDONLY);
	if (from < 0)
		err(1, "%s", argv[1]);
	for (int i = 0; i < 3; i++)
		once(from, argv[2], ring, bytes, ms);
	printf("%.2f %.2f %.2f %.2f\n", ms[0], ms[1], ms[2], ms[3]);
	return 0;
}
