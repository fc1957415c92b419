/*
 * test_06_ipv4.c - names and addresses of chapter 06, with a port behind them
 */
#include "ipv4.h"

#include <arpa/inet.h>
#include "test.h"

static struct sockaddr_in addr;

static int lookup(const char *text)
{
	return CAPTURED(ipv4_lookup(text, "4000", &addr));
}

static void assert_port(const char *text, int port)
{
	assert_int_equal(lookup(text), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(ntohl(addr.sin_addr.s_addr), 0xc0000201);
	assert_int_equal(ntohs(addr.sin_port), port);
}

static void assert_refused(const char *text, const char *part)
{
	assert_int_equal(lookup(text), -1);
	assert_string_equal(said.out, "");
	assert_one_line(said.err, part);
}

TEST(ports)
{
	assert_port("192.0.2.1", 4000);
	assert_port("192.0.2.1:2", 2);
	assert_port("192.0.2.1:65535", 65535);
}

TEST(no_ports)
{
	static const char *const texts[] = {
		"192.0.2.1:",
		"192.0.2.1:0",
		"192.0.2.1:1",
		"192.0.2.1:65536",
		"192.0.2.1:70000",
		"192.0.2.1:-1",
		"192.0.2.1:+5",
		"192.0.2.1: 5",
		"192.0.2.1:5x",
		"192.0.2.1:rds",
		"192.0.2.1:4000:1",
		"2001:db8::1",
		"192.0.2.1:18446744073709551617",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_refused(texts[i], "a port, from 2 to 65535");
	assert_refused("256.0.0.1", "cannot look up 256.0.0.1");
}

TEST(same)
{
	struct sockaddr_in other;

	assert_port("192.0.2.1", 4000);
	other = addr;
	assert_true(ipv4_same(&addr, &other));
	other.sin_port = htons(4001);
	assert_false(ipv4_same(&addr, &other));
	other = addr;
	other.sin_addr.s_addr = htonl(0xc0000202);
	assert_false(ipv4_same(&addr, &other));
}

TEST(list)
{
	struct sockaddr_in addrs[2];

	assert_int_equal(
		ipv4_list("192.0.2.1,192.0.2.2:4010", "4000", addrs, 2), 2);
	assert_int_equal(ntohl(addrs[0].sin_addr.s_addr), 0xc0000201);
	assert_int_equal(ntohs(addrs[0].sin_port), 4000);
	assert_int_equal(ntohl(addrs[1].sin_addr.s_addr), 0xc0000202);
	assert_int_equal(ntohs(addrs[1].sin_port), 4010);
	assert_int_equal(CAPTURED(ipv4_list("192.0.2.1,192.0.2.2,192.0.2.3",
					    "4000", addrs, 2)),
			 -1);
	assert_one_line(said.err, "at most 2 servers");
	assert_int_equal(CAPTURED(ipv4_list("192.0.2.1,", "4000", addrs, 2)),
			 -1);
	assert_one_line(said.err, "cannot look up");
}
