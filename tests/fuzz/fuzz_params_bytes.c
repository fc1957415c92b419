/*
 * fuzz_params_bytes.c - the decoder of 04's and 05's messages, fed with anything
 *
 * The input is a header and what follows it, as the peer would send them.
 * Whatever is accepted must be the one way to say what was understood, and
 * every field must be fit for what the program does with it next.
 */
#include "params.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz_params.h"

/* A header is good for one type at the most, and as we would write it. */
static void feed_header(const uint8_t *wire)
{
	uint8_t again[PARAMS_HEADER];
	int accepted = 0;

	for (int type = PARAMS_HELLO; type <= PARAMS_BYE; type++) {
		if (params_check_header(type, wire))
			continue;
		if (params_header(type, again) > PARAMS_MAX)
			abort();
		if (memcmp(again, wire, sizeof(again)))
			abort();
		accepted++;
	}
	if (accepted > 1)
		abort();
}

static void feed_body(const uint8_t *wire, size_t length)
{
	struct params params;
	uint8_t again[PARAMS_MAX];

	for (int roce = 0; roce < 2; roce++) {
		if (params_decode(&params, wire, length, roce))
			continue;
		check(&params, roce);
		if (params_encode(&params, again) != length ||
		    memcmp(again, wire, length))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	/* A short one never gets past the program's tls_read(). */
	if (size < PARAMS_HEADER)
		return 0;
	feed_header(bytes);
	feed_body(bytes + PARAMS_HEADER, size - PARAMS_HEADER);
	return 0;
}
