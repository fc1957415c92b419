/*
 * psn.c - the packet sequence number (PSN) to begin with
 */
#include "psn.h"

#include <openssl/rand.h>

#include "tls_fail.h"

int psn_draw(uint32_t *psn)
{
	uint8_t bytes[PSN_BITS / 8];

	/* 1 is success; 0 and -1 are failures, and give no number. */
	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return tls_fail("RAND_bytes", "no PSN without it");
	/* Use all 24 bits, so that every value is equally likely. */
	*psn = bytes[0] << 16 | bytes[1] << 8 | bytes[2];
	return 0;
}
