/*
 * pattern.c - bytes that can be checked, after the text that each side writes
 */
#include "pattern.h"

#include <string.h>

#include "log.h"

/* A number that changes with each byte of the text. */
static unsigned char seed_of(const char *text, size_t length)
{
	unsigned char seed = 0;

	for (size_t i = 0; i < length; i++)
		seed = seed * 3 + (unsigned char)text[i];
	return seed;
}

/*
 * The byte at i: neighbours differ, and so do bytes at the same offset in two
 * pages.
 */
static unsigned char byte_at(size_t i, size_t length, unsigned char seed)
{
	return i == length ? 0 : (i ^ (i >> 8) * 31 ^ (i >> 16) * 17) + seed;
}

void pattern_fill(char *buf, size_t size)
{
	size_t length = strnlen(buf, PATTERN_MIN - 1);
	unsigned char seed = seed_of(buf, length);

	for (size_t i = length; i < size; i++)
		buf[i] = (char)byte_at(i, length, seed);
}

int pattern_check(const char *buf, size_t size)
{
	size_t length = strnlen(buf, PATTERN_MIN - 1);
	unsigned char seed = seed_of(buf, length);

	for (size_t i = length; i < size; i++)
		if ((unsigned char)buf[i] != byte_at(i, length, seed))
			return log_fail(
				"byte %zu of the memory is 0x%02x and should be 0x%02x, after such a text [docs/troubleshooting.md#wrong-bytes]",
				i, (unsigned char)buf[i],
				byte_at(i, length, seed));
	return 0;
}
