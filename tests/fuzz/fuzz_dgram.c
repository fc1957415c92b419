/*
 * fuzz_dgram.c - the decoder of chapter 06's datagrams, fed with anything
 *
 * Whatever it accepts must be the one way to say what it understood, and fit
 * for what the programs do with it next: most of it is printed.
 */
#include "dgram.h"

#include <stdlib.h>
#include <string.h>

/* Encoded again, it is the same bytes, as far as there is room for them. */
static void check_canonical(const struct dgram *dgram, const char *bytes,
			    size_t size)
{
	char again[DGRAM_HEADER + DGRAM_TEXT_MAX];
	size_t length = dgram_encode(again, dgram);

	if (length > size || (length < size && length != sizeof(again)))
		abort();
	if (memcmp(again, bytes, length))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *buf = (const char *)bytes;
	struct dgram dgram;

	if (dgram_decode(&dgram, buf, size))
		return 0;
	if (dgram.type < DGRAM_TEXT || dgram.type >= DGRAM_TYPE_END)
		abort();
	if (dgram.text != buf + DGRAM_HEADER ||
	    dgram.length != size - DGRAM_HEADER)
		abort();
	/* Four characters a byte, at worst: the reader's terminal must bear it. */
	if (dgram.length > DGRAM_TEXT_MAX && dgram.type != DGRAM_NUMBERED &&
	    dgram.type != DGRAM_ECHO && dgram.type != DGRAM_BYE)
		abort();
	check_canonical(&dgram, buf, size);
	return 0;
}
