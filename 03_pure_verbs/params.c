/*
 * params.c - what a peer says of itself: as a line of text, which is checked
 */
#include "params.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

/* Raise it with every change to the line. */
#define VERSION 1

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

/* ---- The line ---- */

static const char *const modes[] = {
	[MODE_WRITE] = "write",
	[MODE_READ] = "read",
};

/*
 * A line that a person can read, on a terminal or in a capture:
 *
 *   RDMA 1 QPN 0x000011 PSN 0x123456 GID ::ffff:192.0.2.1 LID 0x0000 MTU 1024
 *   MODE write ADDR 0x55d0c0ffee00 RKEY 0x000007f1 LENGTH 1024
 *
 * but on one line, with a newline at the end.
 */
size_t params_encode(const struct params *params, char line[LINE_LONGEST])
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, params->gid.raw, gid, sizeof(gid));
	return snprintf(line, LINE_LONGEST,
			"RDMA %d QPN 0x%06" PRIx32 " PSN 0x%06" PRIx32
			" GID %s LID 0x%04" PRIx16
			" MTU %d MODE %s ADDR 0x%" PRIx64 " RKEY 0x%08" PRIx32
			" LENGTH %" PRIu32 "\n",
			VERSION, params->qpn, params->psn, gid, params->lid,
			params_mtu_bytes(params->mtu), modes[params->mode],
			params->mem.addr, params->mem.rkey, params->mem.length);
}

/*
 * Splits the line into fields; returns whether it had exactly our form.
 * sscanf(3) is lenient (it takes signs and more spaces), so what it found must
 * give the same line. One with a zero inside ends there, and not with a newline.
 */
static bool scan(struct params *params, const char *line)
{
	char gid[INET6_ADDRSTRLEN], mode[16], again[LINE_LONGEST];
	int mtu;

	if (sscanf(line,
		   "RDMA %*d QPN 0x%8" SCNx32 " PSN 0x%8" SCNx32
		   " GID %45[0-9a-f:.] LID 0x%4" SCNx16
		   " MTU %4d MODE %15[a-z] ADDR 0x%16" SCNx64
		   " RKEY 0x%8" SCNx32 " LENGTH %10" SCNu32,
		   &params->qpn, &params->psn, gid, &params->lid, &mtu, mode,
		   &params->mem.addr, &params->mem.rkey,
		   &params->mem.length) != 9)
		return false;
	if (inet_pton(AF_INET6, gid, params->gid.raw) != 1)
		return false;
	/* If it is neither, or no MTU, it differs from what we encode. */
	params->mode = strcmp(mode, modes[MODE_READ]) ? MODE_WRITE : MODE_READ;
	params->mtu = IBV_MTU_256;
	while (params->mtu < IBV_MTU_4096 &&
	       params_mtu_bytes(params->mtu) < mtu)
		params->mtu++;
	params_encode(params, again);
	return !strcmp(again, line);
}

/* ---- What it says ---- */

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

/* Before anything is done with it. */
static int check(const struct params *params, bool roce)
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
	if (check_where(params, roce))
		return -1;
	return check_memory(&params->mem);
}

int params_decode(struct params *params, const char *line, bool roce)
{
	int version;

	if (sscanf(line, "RDMA %9d ", &version) != 1)
		return log_fail(
			"the peer's line does not begin with RDMA and a version; is it another program [docs/troubleshooting.md#refused]");
	if (version != VERSION)
		return log_fail(
			"the peer speaks version %d, this program version %d; build both from the same source [docs/troubleshooting.md#refused]",
			version, VERSION);
	*params = (struct params){ 0 };
	if (!scan(params, line))
		return log_fail(
			"the peer's line does not have the form of params.c: refused");
	return check(params, roce);
}
