/*
 * test_03_params_fields.c - the line of parameters, and what a peer may not
 * say in it
 */
#include "params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "params_line.h"

static void test_qpn(void **state)
{
	(void)state;
	assert_accepted(with("0x000011", "0x000002"), true);
	assert_accepted(with("0x000011", "0xfffffe"), true);
	assert_refused("0x000011", "0x000000", "QPN 0x0 is none");
	assert_refused("0x000011", "0x000001", "QPN 0x1 is none");
	assert_refused("0x000011", "0xffffff", "QPN 0xffffff is none");
	assert_refused("0x000011", "0x1000000", "QPN 0x1000000 is none");
	assert_refused("0x000011", "0xffffffff", "QPN 0xffffffff is none");
	assert_refused("0x000011", "0x100000011", FORM);
}

static void test_psn(void **state)
{
	(void)state;
	assert_accepted(with("0x123456", "0x000000"), true);
	assert_accepted(with("0x123456", "0xffffff"), true);
	assert_refused("0x123456", "0x1000000", "PSN 0x1000000 has more than");
	assert_refused("0x123456", "0xffffffff", "more than 24 bits");
	assert_refused("0x123456", "0x100123456", FORM);
}

static const char *with_mtu(const char *bytes)
{
	char field[32];

	snprintf(field, sizeof(field), "MTU %s", bytes);
	return with("MTU 1024", field);
}

static void test_mtu(void **state)
{
	static const char *const bad[] = { "0",	   "1",	    "128",
					   "255",  "1025",  "8192",
					   "-256", "0x400", "4294967552" };
	static const char *const good[] = { "256", "512", "1024", "2048",
					    "4096" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_accepted(with_mtu(good[i]), true);
		assert_int_equal(params.mtu, IBV_MTU_256 + i);
		assert_int_equal(params_mtu_bytes(params.mtu), atoi(good[i]));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *line = with_mtu(bad[i]);

		assert_bytes_refused(line, strlen(line), true, FORM);
	}
}

static void test_gid(void **state)
{
	(void)state;
	assert_accepted(with("::ffff:192.0.2.1", "2001:db8::1"), true);
	assert_accepted(with("::ffff:192.0.2.1", "fe80::1"), true);
	assert_refused("::ffff:192.0.2.1", "::", "GID is zero");
	assert_refused("::ffff:192.0.2.1", "ff02::1", "multicast");
	assert_refused("::ffff:192.0.2.1", "ff0e::ffff:e000:1", "multicast");
}

/* InfiniBand: a LID is needed, and a GID is not. */
static void test_lid(void **state)
{
	const char *line = with("LID 0x0000", "LID 0x0007");

	(void)state;
	assert_accepted(line, false);
	assert_int_equal(params.lid, 7);
	assert_accepted(LINE, true);
	assert_bytes_refused(LINE, strlen(LINE), false, "LID 0x0 is none");
	line = with("::ffff:192.0.2.1 LID 0x0000", ":: LID 0xbfff");
	assert_accepted(line, false);
	assert_bytes_refused(line, strlen(line), true, "GID is zero");
	line = with("::ffff:192.0.2.1 LID 0x0000", "ff02::1 LID 0x0007");
	assert_bytes_refused(line, strlen(line), false, "multicast");
	assert_refused("LID 0x0000", "LID 0x10000", FORM);
}

static void test_mode(void **state)
{
	(void)state;
	assert_accepted(with("write", "read"), true);
	assert_int_equal(params.mode, MODE_READ);
	assert_accepted(with("write", "benchmark"), true);
	assert_int_equal(params.mode, MODE_BENCH);
	assert_refused("write", "unknown", FORM);
	assert_refused("write", "Write", FORM);
	assert_refused("write", "writes", FORM);
	assert_refused("write", "", FORM);
	assert_refused("write", "abcdefghijklmnopqrstuvwxyz", FORM);
}

static void test_memory(void **state)
{
	const char *field = "ADDR 0x55d0c0ffee00 RKEY 0x000007f1 LENGTH 1024";

	(void)state;
	assert_accepted(with("LENGTH 1024", "LENGTH 1"), true);
	assert_accepted(with("LENGTH 1024", "LENGTH 67108864"), true);
	assert_refused("LENGTH 1024", "LENGTH 0", "1 to 67108864 are allowed");
	assert_refused("LENGTH 1024", "LENGTH 67108865", "are allowed");
	assert_refused("LENGTH 1024", "LENGTH 4294967295", "are allowed");
	assert_accepted(with(field, "ADDR 0xffffffffffffefff RKEY 0x00000000"
				    " LENGTH 4096"),
			true);
	assert_refused(field,
		       "ADDR 0xfffffffffffff000 RKEY 0x00000000 LENGTH 4096",
		       "beyond the end of the address space");
	assert_refused(field,
		       "ADDR 0xffffffffffffffff RKEY 0x00000000 LENGTH 1024",
		       "beyond the end of the address space");
}

/* What no line can say, but another way to carry parameters may. */
static void test_check(void **state)
{
	struct params wrong;
	int ret[2];

	(void)state;
	assert_accepted(LINE, true);
	wrong = params;
	wrong.mtu = IBV_MTU_4096 + 1;
	capture_start();
	ret[0] = params_check(&wrong, true);
	capture_stop(&said);
	assert_one_line(said.err, "MTU is none of 256");
	wrong = params;
	wrong.mode = MODE_BENCH + 1;
	capture_start();
	ret[1] = params_check(&wrong, true);
	capture_stop(&said);
	assert_one_line(said.err, "unknown mode");
	assert_int_equal(ret[0], -1);
	assert_int_equal(ret[1], -1);
}

static void test_print(void **state)
{
	(void)state;
	assert_accepted(LINE, true);
	capture_start();
	params_print("remote:", &params);
	capture_stop(&said);
	assert_string_equal(said.out, "remote: QPN 0x000011, PSN 0x123456, GID "
				      "::ffff:192.0.2.1, LID 0x0000, MTU "
				      "1024\n");
	assert_string_equal(said.err, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_qpn),    cmocka_unit_test(test_psn),
		cmocka_unit_test(test_mtu),    cmocka_unit_test(test_gid),
		cmocka_unit_test(test_lid),    cmocka_unit_test(test_mode),
		cmocka_unit_test(test_memory), cmocka_unit_test(test_check),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests_name("03_params_fields", tests, NULL,
					   NULL);
}
