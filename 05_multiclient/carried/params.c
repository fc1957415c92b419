/*
 * params.c - what a peer says of itself: printed, and checked
 */
#include "params.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "log.h"

int params_mtu_bytes(enum ibv_mtu mtu)
{
	return 128 << mtu;
}

void params_print(const char *label, const struct params *params)
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, params->gid.raw, gid, sizeof(gid));
	log_line("%s QPN 0x%06" PRIx32 ", PSN 0x%06" PRIx32
		 ", GID %s, LID 0x%04" PRIx16 ", MTU %d",
		 label, params->qpn, params->psn, gid, params->lid,
		 params_mtu_bytes(params->mtu));
}

/* Whether gid is ::ffff:a.b.c.d and not the address of a single host. */
static bool gid_is_no_host(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	uint8_t first = gid->raw[12];

	/* 0.0.0.0/8, loopback; from 224 on multicast, reserved, broadcast. */
	return !memcmp(gid, mapped, sizeof(mapped)) &&
	       (first == 0 || first == 127 || first >= 224);
}

static int check_where(const struct params *params, bool roce)
{
	static const union ibv_gid zero;

	if (roce && !memcmp(&params->gid, &zero, sizeof(zero)))
		return log_fail("the peer's GID is zero, and RoCE needs one");
	if (params->gid.raw[0] == 0xff)
		return log_fail(
			"the peer's GID is a multicast address: refused");
	if (gid_is_no_host(&params->gid))
		return log_fail(
			"the peer's GID is an IPv4 address that no host has: refused");
	/* From 0xc000 on, LIDs are multicast, and the last is reserved. */
	if (!roce && (params->lid == 0 || params->lid >= 0xc000))
		return log_fail("the peer's LID 0x%" PRIx16
				" is not one that an InfiniBand port can have",
				params->lid);
	return 0;
}

static int check_memory(const struct remote *mem)
{
	if (mem->length == 0 || mem->length > PARAMS_MAX_LENGTH)
		return log_fail(
			"the peer announces %u bytes of memory; 1 to %d are allowed",
			mem->length, PARAMS_MAX_LENGTH);
	if (mem->addr + mem->length < mem->addr)
		return log_fail(
			"the peer's memory would reach beyond the end of the address space: refused");
	return 0;
}

int params_check(const struct params *params, bool roce)
{
	/* 0 and 1 are for management; 0xffffff means multicast. */
	if (params->qpn < 2 || params->qpn >= 0xffffff)
		return log_fail(
			"the peer's QPN 0x%" PRIx32
			" is not one that a program's queue pair can have",
			params->qpn);
	/* The kernel would cut off the upper bits silently. */
	if (params->psn > 0xffffff)
		return log_fail("the peer's PSN 0x%" PRIx32
				" has more than 24 bits",
				params->psn);
	if (params->mtu < IBV_MTU_256 || params->mtu > IBV_MTU_4096)
		return log_fail(
			"the peer's MTU is not one of 256, 512, 1024, 2048, 4096");
	if (params->mode < MODE_WRITE || params->mode > MODE_READ)
		return log_fail("the peer runs an unknown mode");
	if (check_where(params, roce))
		return -1;
	return check_memory(&params->mem);
}
