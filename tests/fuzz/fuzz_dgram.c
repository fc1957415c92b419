/*
 * fuzz_dgram.c - the check of chapter 06's datagrams, fed with anything
 *
 * Whatever it accepts must be the one way to say what it understood, and fit
 * for what the programs do with it next: most of it is printed. And it accepts whatever
 * is fit, which is written here a second time.
 */
#include "rds.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool is_fit(const uint8_t *bytes, size_t size)
{
	if (size < DGRAM_HEADER || memcmp(bytes, "RDS6", 5) || bytes[6] ||
	    bytes[7] || bytes[5] < DGRAM_TEXT || bytes[5] >= DGRAM_TYPE_END)
		return false;
	/* Four characters a byte, at worst: the terminal must bear it. */
	return size <= DGRAM_HEADER + DGRAM_TEXT_MAX ||
	       bytes[5] == DGRAM_NUMBERED || bytes[5] == DGRAM_ECHO ||
	       bytes[5] == DGRAM_BYE;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	/* Exactly as long, so that the sanitizer sees what is read beyond it. */
	struct dgram *dgram = malloc(size ? size : 1), again;
	int type;

	if (!dgram)
		abort();
	memcpy(dgram, bytes, size);
	type = dgram_check(dgram, size);
	if (type >= 0 ? !is_fit(bytes, size) || type != bytes[5] :
			is_fit(bytes, size))
		abort();
	if (type >= 0) {
		memset(&again, 0xff, sizeof(again));
		dgram_fill(&again, type, ntohl(dgram->number), "");
		if (memcmp(&again, bytes, DGRAM_HEADER))
			abort();
	}
	free(dgram);
	return 0;
}
