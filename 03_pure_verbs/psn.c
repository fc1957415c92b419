/*
 * psn.c - the packet sequence number (PSN) to begin with
 */
#include "psn.h"

#include <errno.h>
#include <sys/random.h>

#include "log.h"

int psn_draw(uint32_t *psn)
{
	uint8_t bytes[PSN_BITS / 8];

	/* getrandom(2) gives this few bytes all at once or not at all. */
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return log_fail_errno("getrandom", errno,
				      "no PSN without it; give one with -P");
	*psn = bytes[0] << 16 | bytes[1] << 8 | bytes[2];
	return 0;
}
