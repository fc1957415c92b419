/*
 * test_params_where.c - where a peer says that it is, whatever carries that
 */
#include "params.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

/* What params_check() says of a peer at gid and lid; "" if it is accepted. */
static const char *verdict(const char *gid, uint16_t lid, bool roce)
{
	struct params params = {
		.qpn = 0x11,
		.psn = 0x123456,
		.lid = lid,
		.mtu = IBV_MTU_1024,
		.mode = MODE_WRITE,
		.mem = { 0x55d0c0ffee00, 0x7f1, 1024 },
	};
	int ret;

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
