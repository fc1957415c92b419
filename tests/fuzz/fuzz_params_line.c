/*
 * fuzz_params_line.c - the decoder of chapter 03's parameters, fed with anything
 *
 * Whatever it accepts must be the one way to say what it understood, and every
 * field must be fit for what the program does with it next.
 */
#include "params.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

/* In place of log.c's: why a line is refused is not to be read here. */
int log_fail(const char *fmt, ...)
{
	(void)fmt;
	return -1;
}

void log_line(const char *fmt, ...)
{
	(void)fmt;
}

/* What qp_to_rtr() and the transfer rely on. */
static void check(const struct params *params, bool roce)
{
	static const union ibv_gid zero;

	if (params->qpn < 2 || params->qpn > 0xfffffe || params->psn > 0xffffff)
		abort();
	if (params->mtu < IBV_MTU_256 || params->mtu > IBV_MTU_4096 ||
	    params->mode < MODE_WRITE || params->mode > MODE_READ)
		abort();
	if (params->gid.raw[0] == 0xff ||
	    (roce && !memcmp(&params->gid, &zero, sizeof(zero))) ||
	    (!roce && !params->lid))
		abort();
	if (params->mem.length == 0 || params->mem.length > MSG_MAX_LENGTH ||
	    params->mem.addr > UINT64_MAX - params->mem.length)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct params params;
	char again[PARAMS_MAX];

	for (int roce = 0; roce < 2; roce++) {
		if (params_decode(&params, (const char *)bytes, size, roce))
			continue;
		check(&params, roce);
		if (params_encode(&params, again) != size ||
		    memcmp(again, bytes, size))
			abort();
	}
	return 0;
}
