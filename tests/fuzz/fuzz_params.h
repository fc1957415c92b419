/*
 * fuzz_params.h - what qp_to_rtr() and the transfer rely on, whatever parameters came in
 */
#ifndef FUZZ_PARAMS_H
#define FUZZ_PARAMS_H

#include <stdlib.h>
#include <string.h>

#include "params.h"

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
	if (params->mem.length == 0 || params->mem.length > PARAMS_MAX_LENGTH ||
	    params->mem.addr > UINT64_MAX - params->mem.length)
		abort();
}

#endif
