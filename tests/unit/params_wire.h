/*
 * params_wire.h - parameters as a chapter sends them: a line of text, or 48 bytes
 *
 * Written here a second time, and without a look at what the fields are.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#if defined(CHAPTER_03)
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
#else
#include "params.h"

#define SAYS_MTU "MTU is not one of 256"
#define SAYS_MODE "unknown mode"
#define SAYS_SHORT "instead of 48"

#define BODY 48
#define VERSION 3
#define HELLO_BODY 12

static void put(uint8_t *to, uint64_t value, int width)
{
	for (int i = 0; i < width; i++)
		to[i] = value >> 8 * (width - 1 - i);
}

static inline size_t wire_of(const struct params *params, void *wire)
{
	uint8_t *bytes = wire;

	put(bytes, params->qpn, 4);
	put(bytes + 4, params->psn, 4);
	memcpy(bytes + 8, params->gid.raw, 16);
	put(bytes + 24, params->mem.addr, 8);
	put(bytes + 32, params->mem.rkey, 4);
	put(bytes + 36, params->mem.length, 4);
	put(bytes + 40, params->lid, 2);
	bytes[42] = params->mtu;
	bytes[43] = params->mode;
	put(bytes + 44, 0, 4);
	return BODY;
}
#endif
