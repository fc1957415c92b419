/*
 * test_params.c - the parameters, there and back, and what a peer may not say
 * in them
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "params_wire.h"

static const struct params good = {
	.qpn = 0x11,
	.psn = 0x123456,
	.gid = { .raw = { [10] = 0xff, 0xff, 192, 0, 2, 1 } },
	.lid = 0x0708,
	.mtu = IBV_MTU_1024,
	.mode = MODE_READ,
	.mem = { 0x55d0c0ffee00, 0x7f1, 1024 },
};

/* To be changed; the one that a test decodes into; and what was said. */
static struct params sent, got;

static int decode_bytes(const void *bytes, size_t length, bool roce)
{
	/* They stand alone, so that a read beyond them is seen. */
	char *copy = malloc(length + 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy + 1, bytes, length);
	memset(&got, 0xee, sizeof(got));
	ret = CAPTURED(params_decode(&got, (void *)(copy + 1), length, roce));
	free(copy);
	assert_string_equal(said.out, "");
	return ret;
}

/* What becomes of the parameters in sent. */
static int decode(bool roce)
{
	char wire[PARAMS_MAX];

	return decode_bytes(wire, wire_of(&sent, wire), roce);
}

static void assert_same(const struct params *a, const struct params *b)
{
	assert_int_equal(a->qpn, b->qpn);
	assert_int_equal(a->psn, b->psn);
	assert_memory_equal(&a->gid, &b->gid, sizeof(a->gid));
	assert_int_equal(a->lid, b->lid);
	assert_int_equal(a->mtu, b->mtu);
	assert_int_equal(a->mode, b->mode);
	assert_true(a->mem.addr == b->mem.addr);
	assert_int_equal(a->mem.rkey, b->mem.rkey);
	assert_int_equal(a->mem.length, b->mem.length);
}

static void assert_accepted(bool roce)
{
	int ret = decode(roce);

	assert_string_equal(said.err, "");
	assert_int_equal(ret, 0);
	assert_same(&got, &sent);
}

static void assert_refused(bool roce, const char *reason)
{
	assert_int_equal(decode(roce), -1);
	assert_memory_equal(said.err, "error: ", 7);
	assert_one_line(said.err, reason);
}

TEST(encode)
{
	char want[PARAMS_MAX], wire[PARAMS_MAX];
	size_t length = wire_of(&good, want);

	assert_int_equal(params_encode(&good, (void *)wire), length);
	assert_memory_equal(wire, want, length);
}

/* Every field at its smallest and largest is what it was, there and back. */
TEST(round_trip)
{
	static const struct params some[] = {
		{ 2, 0, { { 1 } }, 1, IBV_MTU_256, MODE_WRITE, { 0, 0, 1 } },
		{ 0xfffffe,
		  0xffffff,
		  { { 0xfe, [15] = 0xff } },
		  0xbfff,
		  IBV_MTU_4096,
		  MODE_READ,
		  { UINT64_MAX - MSG_MAX_LENGTH, UINT32_MAX, MSG_MAX_LENGTH } },
		/* As long as a line can be, if they are sent as one. */
		{ 0xfffffe,
		  0xffffff,
		  { { 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0xfe,
		      0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10 } },
		  0xbfff,
		  IBV_MTU_4096,
		  MODE_READ,
		  { UINT64_MAX - MSG_MAX_LENGTH, UINT32_MAX, MSG_MAX_LENGTH } },
	};
	char wire[PARAMS_MAX];

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		size_t length = params_encode(&some[i], (void *)wire);

		assert_in_range(length, 1, PARAMS_MAX);
		for (int roce = 0; roce <= 1; roce++) {
			assert_int_equal(decode_bytes(wire, length, roce), 0);
			assert_string_equal(said.err, "");
			assert_same(&got, &some[i]);
		}
	}
}

/* Not a byte less than all of them, and not one more. */
TEST(length)
{
	char wire[PARAMS_MAX * 2] = "";
	size_t whole = wire_of(&good, wire);

	for (size_t length = 0; length < sizeof(wire); length++) {
		if (length == whole)
			continue;
		assert_int_equal(decode_bytes(wire, length, true), -1);
		assert_one_line(said.err, SAYS_SHORT);
	}
}

TEST(qpn)
{
	static const uint32_t fine[] = { 2, 3, 0x800000, 0xfffffe };
	static const uint32_t bad[] = { 0,	   1,	      0xffffff,
					0x1000000, 0x1000011, 0xffffffff };
	char reason[64];

	sent = good;
	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++) {
		sent.qpn = fine[i];
		assert_accepted(true);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		sent.qpn = bad[i];
		snprintf(reason, sizeof(reason), "QPN 0x%x is not one", bad[i]);
		assert_refused(true, reason);
		assert_refused(false, reason);
	}
}

TEST(psn)
{
	sent = good;
	sent.psn = 0;
	assert_accepted(true);
	sent.psn = 0xffffff;
	assert_accepted(true);
	sent.psn = 0x1000000;
	assert_refused(true, "PSN 0x1000000 has more than 24 bits");
	sent.psn = 0xffffffff;
	assert_refused(true, "PSN 0xffffffff has more than 24 bits");
}

TEST(mtu)
{
	sent = good;
	for (int mtu = 0; mtu < 16; mtu++) {
		sent.mtu = mtu;
		if (mtu < IBV_MTU_256 || mtu > IBV_MTU_4096) {
			assert_refused(true, SAYS_MTU);
			continue;
		}
		assert_accepted(true);
		assert_int_equal(params_mtu_bytes(got.mtu), 128 << mtu);
	}
}

TEST(mode)
{
	sent = good;
	for (int mode = 0; mode < 256; mode++) {
		sent.mode = mode;
		if (mode < MODE_WRITE || mode > MODE_READ)
			assert_refused(true, SAYS_MODE);
		else
			assert_accepted(true);
	}
}

TEST(memory)
{
	static const uint32_t bad[] = { 0, MSG_MAX_LENGTH + 1, 0x80000000,
					0xffffffff };

	sent = good;
	sent.mem.length = 1;
	assert_accepted(true);
	sent.mem.length = MSG_MAX_LENGTH;
	assert_accepted(true);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		sent.mem.length = bad[i];
		assert_refused(true, "1 to 67108864 are allowed");
	}
	sent.mem.length = 4096;
	sent.mem.addr = UINT64_MAX - 4096;
	assert_accepted(true);
	sent.mem.addr = UINT64_MAX - 4095;
	assert_refused(true, "beyond the end of the address space");
	sent.mem.addr = UINT64_MAX;
	assert_refused(true, "beyond the end of the address space");
}

/* What params_check() says of a peer at gid and lid; "" if it is accepted. */
static const char *verdict(const char *gid, uint16_t lid, bool roce)
{
	struct params params = good;
	int ret;

	params.lid = lid;
	assert_int_equal(inet_pton(AF_INET6, gid, params.gid.raw), 1);
	ret = CAPTURED(params_check(&params, roce));
	assert_int_equal(ret, said.err_length ? -1 : 0);
	return said.err;
}

/* 224.0.0.0/4 is multicast; 240.0.0.0/4 is reserved, and its end broadcast. */
TEST(ipv4)
{
	static const char *const hosts[] = {
		"::ffff:192.0.2.1",	  "::ffff:1.0.0.1",
		"::ffff:126.255.255.255", "::ffff:128.0.0.1",
		"::ffff:223.255.255.255",
	};
	static const char *const none[] = {
		"::ffff:0.0.0.0",   "::ffff:0.255.255.255",
		"::ffff:127.0.0.1", "::ffff:224.0.0.0",
		"::ffff:224.0.0.1", "::ffff:239.255.255.255",
		"::ffff:240.0.0.1", "::ffff:255.255.255.255",
	};

	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++)
		assert_string_equal(verdict(hosts[i], 0, true), "");
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_one_line(verdict(none[i], 0, true),
				"an IPv4 address that no host has: refused");
}

TEST(ipv6)
{
	assert_string_equal(verdict("2001:db8::1", 0, true), "");
	assert_string_equal(verdict("fe80::1", 0, true), "");
	/* Not ::ffff:0:0/96. */
	assert_string_equal(verdict("2001:db8::ffff:e000:1", 0, true), "");
	assert_one_line(verdict("::", 0, true), "GID is zero");
	assert_one_line(verdict("ff02::1", 0, true), "a multicast address");
	assert_one_line(verdict("ff0e::ffff:e000:1", 0, true), "multicast");
}

TEST(lid)
{
	assert_string_equal(verdict("::", 1, false), "");
	assert_string_equal(verdict("::", 0xbfff, false), "");
	assert_one_line(verdict("::", 0, false), "LID 0x0 is not one");
	assert_one_line(verdict("::", 0xc000, false), "LID 0xc000 is not one");
	assert_one_line(verdict("::", 0xffff, false), "LID 0xffff is not one");
	/* RoCE has no LIDs. */
	assert_string_equal(verdict("fe80::1", 0xffff, true), "");
}
