/*
 * fuzz_dgram.c - the check of chapter 06's datagrams, fed with anything
 *
 * Whatever it accepts must be the one way to say what it understood, and fit
 * for what the programs do with it next: most of it is printed.
 */
#include "rds.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	/* Exactly as long, so that the sanitizer sees what is read beyond it. */
	struct dgram *dgram = malloc(size ? size : 1), again;
	int type;

	if (!dgram)
		abort();
	memcpy(dgram, bytes, size);
	type = dgram_check(dgram, size);
	if (type >= 0) {
		if (type < DGRAM_TEXT || type >= DGRAM_TYPE_END)
			abort();
		/* Four characters a byte, at worst: the terminal must bear it. */
		if (size > DGRAM_HEADER + DGRAM_TEXT_MAX &&
		    type != DGRAM_NUMBERED && type != DGRAM_ECHO &&
		    type != DGRAM_BYE)
			abort();
		dgram_fill(&again, type, ntohl(dgram->number), "");
		if (memcmp(&again, bytes, DGRAM_HEADER))
			abort();
	}
	free(dgram);
	return 0;
}
