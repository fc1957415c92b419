/*
 * test_03_params.c - the form of the line of parameters
 */
#include "params.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "params_line.h"

static void test_decode(void **state)
{
	union ibv_gid gid;

	(void)state;
	assert_accepted(LINE, true);
	assert_int_equal(params.qpn, 0x11);
	assert_int_equal(params.psn, 0x123456);
	assert_int_equal(inet_pton(AF_INET6, "::ffff:192.0.2.1", &gid), 1);
	assert_memory_equal(&params.gid, &gid, 16);
	assert_int_equal(params.lid, 0);
	assert_int_equal(params.mtu, IBV_MTU_1024);
	assert_int_equal(params.mode, MODE_WRITE);
	assert_true(params.mem.addr == 0x55d0c0ffee00);
	assert_int_equal(params.mem.rkey, 0x7f1);
	assert_int_equal(params.mem.length, 1024);
}

/* Every field at its smallest and largest is what it was, there and back. */
static void test_round_trip(void **state)
{
	static const struct params some[] = {
		{ 2, 0, { { 1 } }, 0, IBV_MTU_256, MODE_WRITE, { 0, 0, 1 } },
		{ 0xfffffe,
		  0xffffff,
		  { { 0xfe, [15] = 0xff } },
		  0xffff,
		  IBV_MTU_4096,
		  MODE_BENCH,
		  { UINT64_MAX - MSG_MAX_LENGTH, UINT32_MAX, MSG_MAX_LENGTH } },
		{ 0x11,
		  0x800000,
		  { { [10] = 0xff, 0xff, 192, 0, 2, 1 } },
		  7,
		  IBV_MTU_2048,
		  MODE_READ,
		  { 0x7fff00000000, 0x80000000, 4096 } },
		/* As long as a line can be. */
		{ 0xfffffe,
		  0xffffff,
		  { { 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0xfe,
		      0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10 } },
		  0xffff,
		  IBV_MTU_4096,
		  MODE_BENCH,
		  { UINT64_MAX - MSG_MAX_LENGTH, UINT32_MAX, MSG_MAX_LENGTH } },
	};
	char wire[PARAMS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		size_t length = params_encode(&some[i], wire);

		assert_in_range(length, 1, PARAMS_MAX);
		assert_int_equal(wire[length - 1], '\n');
		assert_int_equal(decode_bytes(wire, length, true), 0);
		assert_string_equal(said.err, "");
		assert_int_equal(params.qpn, some[i].qpn);
		assert_int_equal(params.psn, some[i].psn);
		assert_memory_equal(&params.gid, &some[i].gid, 16);
		assert_int_equal(params.lid, some[i].lid);
		assert_int_equal(params.mtu, some[i].mtu);
		assert_int_equal(params.mode, some[i].mode);
		assert_true(params.mem.addr == some[i].mem.addr);
		assert_int_equal(params.mem.rkey, some[i].mem.rkey);
		assert_int_equal(params.mem.length, some[i].mem.length);
	}
}

static void test_encode(void **state)
{
	char wire[PARAMS_MAX];
	size_t length;

	(void)state;
	assert_accepted(LINE, true);
	length = params_encode(&params, wire);
	assert_int_equal(length, strlen(LINE));
	assert_memory_equal(wire, LINE, length);
}

static void test_version(void **state)
{
	(void)state;
	assert_refused("RDMA 1", "RDMA 2", "version 2, this program version 1");
	assert_refused("RDMA 1", "RDMA 0", "version 0, ");
	assert_refused("RDMA 1", "RDMA -1", "version -1, ");
	assert_refused("RDMA 1", "RDMA 999999999", "version 999999999, ");
	assert_refused("RDMA 1", "RDMA 01", FORM);
	assert_refused("RDMA 1", "RDMA +1", FORM);
	assert_refused("RDMA 1", "RDMA", "begin with RDMA and a version");
	assert_refused("RDMA 1", "RDMA x", "begin with RDMA and a version");
}

static void test_garbage(void **state)
{
	static const char *const bad[] = { "\n",
					   "RDMA\n",
					   "rdma 1 QPN\n",
					   "GET / HTTP/1.1\r\n",
					   "\x16\x03\x01\x02",
					   "\xff\xff\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_bytes_refused(bad[i], strlen(bad[i]), true,
				     "begin with RDMA and a version");
	assert_bytes_refused("", 0, true, "begin with RDMA and a version");
	assert_bytes_refused("RDMA 1\n", 7, true, FORM);
	/* Not a byte more than the line, and not a byte less. */
	assert_refused("1024\n", "1024", FORM);
	assert_refused("1024\n", "1024\r\n", FORM);
	assert_refused("1024\n", "1024\n\n", FORM);
	assert_refused("1024\n", "1024 MORE 1\n", FORM);
}

static void test_every_prefix(void **state)
{
	(void)state;
	for (size_t length = 0; length < strlen(LINE); length++)
		assert_int_equal(decode_bytes(LINE, length, true), -1);
}

/* Any other spelling of a line that would be right. */
static void test_spelling(void **state)
{
	(void)state;
	assert_refused(" QPN", "  QPN", FORM);
	assert_refused(" QPN", "\tQPN", FORM);
	assert_refused("QPN 0x000011", "QPN 0x11", FORM);
	assert_refused("QPN 0x000011", "QPN 0x0000011", FORM);
	assert_refused("QPN 0x000011", "QPN 17", FORM);
	assert_refused("PSN 0x123456", "PSN 0x-12345", FORM);
	assert_refused("PSN 0x123456", "PSN 0X123456", FORM);
	assert_refused("PSN 0x123456", "PSN 0x12345g", FORM);
	assert_refused("::ffff:192.0.2.1", "::ffff:c000:201", FORM);
	assert_refused("::ffff:192.0.2.1", "192.0.2.1", FORM);
	assert_refused("::ffff:192.0.2.1", "::FFFF:192.0.2.1", FORM);
	assert_refused("::ffff:192.0.2.1", "fe80::1%eth0", FORM);
	assert_refused("::ffff:192.0.2.1", "", FORM);
	assert_refused("LENGTH 1024", "LENGTH 01024", FORM);
	assert_refused("LENGTH 1024", "LENGTH +1024", FORM);
	assert_refused("LENGTH 1024", "LENGTH -1", FORM);
	/* 2^32 + 1024 must not become 1024. */
	assert_refused("LENGTH 1024", "LENGTH 4294968320", FORM);
	assert_refused("RKEY 0x000007f1", "RKEY 0x1000007f1", FORM);
	assert_refused("ADDR 0x55d0c0ffee00", "ADDR 0x155d0c0ffee00aaaaa",
		       FORM);
}

static void test_length_of_line(void **state)
{
	char line[PARAMS_MAX + 2];

	(void)state;
	memset(line, ' ', sizeof(line));
	memcpy(line, LINE, strlen(LINE));
	assert_bytes_refused(line, PARAMS_MAX, true, FORM);
	assert_bytes_refused(line, PARAMS_MAX + 1, true, "no text");
	assert_bytes_refused(line, sizeof(line), true, "no text");
}

/* What follows a zero byte would not be looked at by sscanf(3). */
static void test_zero_inside(void **state)
{
	char line[] = LINE "evil";

	(void)state;
	line[strlen(LINE)] = 0;
	assert_bytes_refused(line, sizeof(line) - 1, true, "no text");
	for (size_t i = 0; i < strlen(LINE); i++) {
		memcpy(line, LINE, sizeof(LINE));
		line[i] = 0;
		assert_bytes_refused(line, strlen(LINE), true, "no text");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_spelling),
		cmocka_unit_test(test_length_of_line),
		cmocka_unit_test(test_zero_inside),
	};

	return cmocka_run_group_tests_name("03_params", tests, NULL, NULL);
}
