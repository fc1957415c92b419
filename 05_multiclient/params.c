/*
 * params.c - what two queue pairs must know about each other
 */
#include "params.h"

#include <arpa/inet.h>
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "log.h"

static const uint8_t magic[4] = { 'R', 'D', 'M', 'X' };

/*
 * The layouts on the wire: big-endian, each field at a multiple of its own
 * size, so that no compiler puts a gap between two of them.
 */
struct wire_header {
	uint8_t magic[4];
	uint8_t version;
	uint8_t type;
	uint16_t reserved; /* 0 */
	uint32_t length; /* of what follows */
};

struct wire_hello {
	uint32_t number;
	uint32_t connected;
	uint32_t max;
};

struct wire_params {
	uint32_t qpn;
	uint32_t psn;
	uint8_t gid[16];
	uint64_t addr;
	uint32_t rkey;
	uint32_t length;
	uint16_t lid;
	uint8_t mtu; /* as enum ibv_mtu: 1 to 5 */
	uint8_t mode;
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct wire_header) == PARAMS_HEADER, "no gaps");
_Static_assert(sizeof(struct wire_hello) == 12, "no gaps in wire_hello");
_Static_assert(sizeof(struct wire_params) == 48, "no gaps in wire_params");
_Static_assert(sizeof(struct wire_params) <= PARAMS_MAX, "it fits");
_Static_assert(offsetof(struct wire_params, addr) == 24, "addr at byte 24");
_Static_assert(offsetof(struct wire_params, lid) == 40, "lid at byte 40");

/* The one length that a message of type has. */
static uint32_t length_of(enum params_type type)
{
	switch (type) {
	case PARAMS_HELLO:
		return sizeof(struct wire_hello);
	case PARAMS_PARAMS:
		return sizeof(struct wire_params);
	default:
		return 0;
	}
}

size_t params_header(enum params_type type, uint8_t wire[PARAMS_HEADER])
{
	struct wire_header w = {
		.version = PARAMS_VERSION,
		.type = type,
		.length = htobe32(length_of(type)),
	};

	memcpy(w.magic, magic, sizeof(magic));
	memcpy(wire, &w, sizeof(w));
	return length_of(type);
}

int params_check_header(enum params_type type,
			const uint8_t wire[PARAMS_HEADER])
{
	struct wire_header w;

	memcpy(&w, wire, sizeof(w));
	if (memcmp(w.magic, magic, sizeof(magic)))
		return log_fail(
			"the peer's message does not begin with RDMX; is it another program [docs/troubleshooting.md#refused]");
	if (w.version != PARAMS_VERSION)
		return log_fail(
			"the peer speaks version %d, this program version %d; build both from the same source [docs/troubleshooting.md#refused]",
			w.version, PARAMS_VERSION);
	if (w.type < PARAMS_HELLO || w.type > PARAMS_BYE)
		return log_fail(
			"the peer sent a message of the unknown type %d",
			w.type);
	if (be32toh(w.length) > PARAMS_MAX)
		return log_fail("the peer announces %" PRIu32
				" bytes, and %d is the most: refused",
				be32toh(w.length), PARAMS_MAX);
	if (w.type != type)
		return log_fail("protocol error: message type %d instead of %d",
				w.type, type);
	if (w.reserved || be32toh(w.length) != length_of(type))
		return log_fail(
			"the peer's message of type %d announces %" PRIu32
			" bytes instead of %" PRIu32
			", or has a value where there must be zero",
			type, be32toh(w.length), length_of(type));
	return 0;
}

size_t params_encode_hello(const struct hello *hello, uint8_t wire[PARAMS_MAX])
{
	struct wire_hello w = {
		.number = htobe32(hello->number),
		.connected = htobe32(hello->connected),
		.max = htobe32(hello->max),
	};

	memcpy(wire, &w, sizeof(w));
	return sizeof(w);
}

int params_decode_hello(struct hello *hello, const uint8_t *wire, size_t length)
{
	struct wire_hello w;

	if (length != sizeof(w))
		return log_fail(
			"the server's hello has %zu bytes instead of %zu",
			length, sizeof(w));
	memcpy(&w, wire, sizeof(w));
	hello->number = be32toh(w.number);
	hello->connected = be32toh(w.connected);
	hello->max = be32toh(w.max);
	return 0;
}

size_t params_encode(const struct params *params, uint8_t wire[PARAMS_MAX])
{
	struct wire_params w = {
		.qpn = htobe32(params->qpn),
		.psn = htobe32(params->psn),
		.addr = htobe64(params->mem.addr),
		.rkey = htobe32(params->mem.rkey),
		.length = htobe32(params->mem.length),
		.lid = htobe16(params->lid),
		.mtu = params->mtu,
		.mode = params->mode,
	};

	memcpy(w.gid, params->gid.raw, sizeof(w.gid));
	memcpy(wire, &w, sizeof(w));
	return sizeof(w);
}

int params_decode(struct params *params, const uint8_t *wire, size_t length,
		  bool roce)
{
	struct wire_params w;

	if (length != sizeof(w))
		return log_fail(
			"the peer's parameters have %zu bytes instead of %zu",
			length, sizeof(w));
	memcpy(&w, wire, sizeof(w));
	if (w.reserved)
		return log_fail(
			"the peer's parameters have a value where there must be zero");
	*params = (struct params){
		.qpn = be32toh(w.qpn),
		.psn = be32toh(w.psn),
		.lid = be16toh(w.lid),
		.mtu = w.mtu,
		.mode = w.mode,
		.mem = {
			.addr = be64toh(w.addr),
			.rkey = be32toh(w.rkey),
			.length = be32toh(w.length),
		},
	};
	memcpy(params->gid.raw, w.gid, sizeof(w.gid));
	return params_check(params, roce);
}

int params_mtu_bytes(enum ibv_mtu mtu)
{
	return 128 << mtu;
}

static bool gid_is_zero(const union ibv_gid *gid)
{
	static const union ibv_gid zero;

	return !memcmp(gid, &zero, sizeof(zero));
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
	if (roce && gid_is_zero(&params->gid))
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
	return msg_check_memory(&params->mem);
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
