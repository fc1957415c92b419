/*
 * fuzz_params_line.c - the decoder of chapter 03's parameters, fed with anything
 *
 * Whatever it accepts must be the one way to say what it understood, and every
 * field must be fit for what the program does with it next.
 */
#include "oob.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz_params.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct params params;
	char again[LINE_LONGEST];

	for (int roce = 0; roce < 2; roce++) {
		if (oob_decode(&params, (const char *)bytes, size) ||
		    params_check(&params, roce))
			continue;
		check(&params, roce);
		if (oob_encode(&params, again) != size ||
		    memcmp(again, bytes, size))
			abort();
	}
	return 0;
}
