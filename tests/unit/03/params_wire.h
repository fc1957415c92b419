/*
 * params_wire.h - parameters as chapter 03 sends them: a line of text
 *
 * Written here a second time, and without a look at what the fields are.
 */
#ifndef PARAMS_WIRE_H
#define PARAMS_WIRE_H

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "params.h"

#define FORM "does not have the form"
/* What no word and no number of bytes stands for is not a line. */
#define SAYS_MTU FORM
#define SAYS_MODE FORM
#define SAYS_SHORT ""

static size_t wire_of(const struct params *params, void *wire)
{
	static const char *const modes[] = { "?", "write", "read" };
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, params->gid.raw, gid, sizeof(gid));
	return snprintf(wire, PARAMS_MAX,
			"RDMA 1 QPN 0x%06x PSN 0x%06x GID %s LID 0x%04x"
			" MTU %d MODE %s ADDR 0x%" PRIx64
			" RKEY 0x%08x LENGTH %u\n",
			params->qpn, params->psn, gid, params->lid,
			128 << params->mtu,
			params->mode < 3 ? modes[params->mode] : "?",
			params->mem.addr, params->mem.rkey, params->mem.length);
}

#endif
