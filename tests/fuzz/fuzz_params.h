/*
 * fuzz_params.h - what qp_to_rtr() and the transfer rely on, whatever parameters came in
 */
#ifndef FUZZ_PARAMS_H
#define FUZZ_PARAMS_H

#include <string.h>

#include "params.h"

static bool is_fit(const struct params *params, bool roce)
{
	static const union ibv_gid zero;
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };
	uint8_t first = params->gid.raw[12];

	if (params->qpn < 2 || params->qpn > 0xfffffe || params->psn > 0xffffff)
		return false;
	if (params->mtu < IBV_MTU_256 || params->mtu > IBV_MTU_4096 ||
	    params->mode < MODE_WRITE || params->mode > MODE_READ)
		return false;
	if (params->gid.raw[0] == 0xff ||
	    (roce && !memcmp(&params->gid, &zero, sizeof(zero))) ||
	    (!roce && (!params->lid || params->lid > 0xbfff)))
		return false;
	if (!memcmp(params->gid.raw, ipv4, sizeof(ipv4)) &&
	    (first == 0 || first == 127 || first > 223))
		return false;
	return params->mem.length > 0 &&
	       params->mem.length <= PARAMS_MAX_LENGTH &&
	       params->mem.addr <= UINT64_MAX - params->mem.length;
}

#endif
