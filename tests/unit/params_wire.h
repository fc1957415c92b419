/*
 * params_wire.h - parameters as a chapter sends them, in a line of text
 *
 * Written here a second time, and without a look at what the fields are.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oob.h"

#define PARAMS_MAX LINE_LONGEST
#define MSG_MAX_LENGTH PARAMS_MAX_LENGTH
#define params_encode oob_encode

/* As oob_recv_params() does it. */
static inline int params_decode(struct params *params, const char *line,
				size_t length, bool roce)
{
	return oob_decode(params, line, length) || params_check(params, roce) ?
		       -1 :
		       0;
}

#define FORM "does not have the form"
/* What no word and no number of bytes stands for is not a line. */
#define SAYS_MTU FORM
#define SAYS_MODE FORM
#define SAYS_SHORT ""

static inline size_t wire_of(const struct params *params, void *wire)
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
