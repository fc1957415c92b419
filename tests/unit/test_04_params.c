/*
 * test_04_params.c - the messages of the exchange, byte by byte
 */
#include "params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture.h"

#define BODY 48

static struct captured said;

static const struct params good = {
	.qpn = 0x11,
	.psn = 0x123456,
	.gid = { .raw = { [10] = 0xff, 0xff, 192, 0, 2, 1 } },
	.lid = 0x0708,
	.mtu = IBV_MTU_1024,
	.mode = MODE_READ,
	.mem = { 0x55d0c0ffee00, 0x7f1, 1024 },
};

static const uint8_t good_wire[BODY] = {
	0, 0, 0,    0x11, 0,	0x12, 0x34, 0x56, 0,   0, 0,	0,
	0, 0, 0,    0,	  0,	0,    0xff, 0xff, 192, 0, 2,	1,
	0, 0, 0x55, 0xd0, 0xc0, 0xff, 0xee, 0,	  0,   0, 0x07, 0xf1,
	0, 0, 4,    0,	  0x07, 0x08, 3,    2,	  0,   0, 0,	0,
};

static int check_header(enum params_type type, const uint8_t *wire)
{
	int ret;

	capture_start();
	ret = params_check_header(type, wire);
	capture_stop(&said);
	return ret;
}

static int decode(struct params *params, const uint8_t *wire, size_t length,
		  bool roce)
{
	int ret;

	capture_start();
	ret = params_decode(params, wire, length, roce);
	capture_stop(&said);
	return ret;
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

static void test_header_bytes(void **state)
{
	static const uint8_t want[PARAMS_HEADER] = {
		'R', 'D', 'M', 'X', 2, 2, 0, 0, 0, 0, 0, 48
	};
	uint8_t wire[PARAMS_HEADER];

	(void)state;
	assert_int_equal(params_header(PARAMS_PARAMS, wire), BODY);
	assert_memory_equal(wire, want, sizeof(want));
	assert_int_equal(params_header(PARAMS_HELLO, wire), 0);
	assert_int_equal(wire[5], 1);
	assert_int_equal(wire[11], 0);
}

/* Each type's header is good for that type, and for no other. */
static void test_header_types(void **state)
{
	uint8_t wire[PARAMS_HEADER];

	(void)state;
	for (enum params_type is = PARAMS_HELLO; is <= PARAMS_BYE; is++) {
		params_header(is, wire);
		for (enum params_type want = PARAMS_HELLO; want <= PARAMS_BYE;
		     want++) {
			int ret = check_header(want, wire);

			if (is == want) {
				assert_int_equal(ret, 0);
				assert_string_equal(said.err, "");
				continue;
			}
			assert_int_equal(ret, -1);
			assert_one_line(said.err, "protocol error");
		}
	}
}

static void test_header_refused(void **state)
{
	static const struct {
		enum params_type type;
		size_t at;
		uint8_t bytes[4];
		size_t count;
		const char *says;
	} cases[] = {
		{ PARAMS_PARAMS, 0, { 'r' }, 1, "begin with RDMX" },
		{ PARAMS_PARAMS, 3, { 'A' }, 1, "begin with RDMX" },
		{ PARAMS_PARAMS, 4, { 1 }, 1, "speaks version 1, this" },
		{ PARAMS_PARAMS, 4, { 3 }, 1, "speaks version 3, this" },
		{ PARAMS_PARAMS, 5, { 0 }, 1, "unknown type 0" },
		{ PARAMS_PARAMS, 5, { 5 }, 1, "unknown type 5" },
		{ PARAMS_PARAMS, 5, { 255 }, 1, "unknown type 255" },
		{ PARAMS_PARAMS, 6, { 1 }, 1, "must be zero" },
		{ PARAMS_PARAMS, 7, { 1 }, 1, "must be zero" },
		{ PARAMS_PARAMS, 8, { 0, 0, 0, 0 }, 4, "announces 0 bytes" },
		{ PARAMS_PARAMS, 8, { 0, 0, 0, 47 }, 4, "announces 47 bytes" },
		{ PARAMS_PARAMS, 8, { 0, 0, 0, 49 }, 4, "announces 49 bytes" },
		{ PARAMS_PARAMS, 8, { 0, 0, 1, 0 }, 4, "announces 256 bytes" },
		{ PARAMS_PARAMS, 8, { 0, 0, 1, 1 }, 4, "256 is the most" },
		{ PARAMS_PARAMS,
		  8,
		  { 255, 255, 255, 255 },
		  4,
		  "announces 4294967295 bytes, and 256 is the most" },
		{ PARAMS_HELLO, 8, { 0, 0, 0, 1 }, 4, "announces 1 bytes" },
		{ PARAMS_BYE, 8, { 0, 0, 0, 48 }, 4, "announces 48 bytes" },
	};
	uint8_t wire[PARAMS_HEADER];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		params_header(cases[i].type, wire);
		memcpy(wire + cases[i].at, cases[i].bytes, cases[i].count);
		assert_int_equal(check_header(cases[i].type, wire), -1);
		assert_one_line(said.err, cases[i].says);
	}
}

static void test_body_bytes(void **state)
{
	uint8_t wire[PARAMS_MAX];
	struct params params;

	(void)state;
	assert_int_equal(params_encode(&good, wire), BODY);
	assert_memory_equal(wire, good_wire, BODY);
	assert_int_equal(decode(&params, good_wire, BODY, true), 0);
	assert_string_equal(said.err, "");
	assert_same(&params, &good);
}

/* Every field at its least and at its most comes back. */
static void test_round_trip(void **state)
{
	static const struct params ends[] = {
		{ 2, 0, { { 1 } }, 1, IBV_MTU_256, MODE_WRITE, { 0, 0, 1 } },
		{ 0xfffffe,
		  0xffffff,
		  { { 0xfe, [15] = 0xff } },
		  0xbfff,
		  IBV_MTU_4096,
		  MODE_BENCH,
		  { UINT64_MAX - MSG_MAX_LENGTH, UINT32_MAX, MSG_MAX_LENGTH } },
	};
	uint8_t wire[PARAMS_MAX];
	struct params params;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(params_encode(&ends[i], wire), BODY);
		assert_int_equal(decode(&params, wire, BODY, true), 0);
		assert_same(&params, &ends[i]);
		assert_int_equal(decode(&params, wire, BODY, false), 0);
		assert_same(&params, &ends[i]);
	}
}

static void test_body_refused(void **state)
{
	static const struct {
		size_t at;
		uint8_t bytes[16];
		size_t count;
		const char *says;
	} cases[] = {
		{ 0, { 0, 0, 0, 0 }, 4, "QPN 0x0 " },
		{ 0, { 0, 0, 0, 1 }, 4, "QPN 0x1 " },
		{ 0, { 0, 255, 255, 255 }, 4, "QPN 0xffffff " },
		{ 0, { 1, 0, 0, 0x11 }, 4, "QPN 0x1000011 " },
		{ 4, { 1, 0, 0, 0 }, 4, "PSN 0x1000000 has more than" },
		{ 4, { 255, 255, 255, 255 }, 4, "PSN 0xffffffff has more" },
		{ 8, { 0 }, 16, "GID is zero" },
		{ 8, { 0xff, 2 }, 16, "multicast" },
		{ 24,
		  { 255, 255, 255, 255, 255, 255, 252, 1 },
		  8,
		  "beyond the end" },
		{ 36, { 0, 0, 0, 0 }, 4, "memory" },
		{ 36, { 4, 0, 0, 1 }, 4, "memory" },
		{ 42, { 0 }, 1, "MTU" },
		{ 42, { 6 }, 1, "MTU" },
		{ 42, { 255 }, 1, "MTU" },
		{ 43, { 0 }, 1, "unknown mode" },
		{ 43, { MODE_BENCH + 1 }, 1, "unknown mode" },
		{ 44, { 1 }, 1, "must be zero" },
		{ 47, { 1 }, 1, "must be zero" },
	};
	uint8_t wire[BODY];
	struct params params;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memcpy(wire, good_wire, BODY);
		memcpy(wire + cases[i].at, cases[i].bytes, cases[i].count);
		assert_int_equal(decode(&params, wire, BODY, true), -1);
		assert_one_line(said.err, cases[i].says);
	}
}

static void test_body_length(void **state)
{
	uint8_t wire[PARAMS_MAX] = { 0 };
	struct params params;

	(void)state;
	memcpy(wire, good_wire, BODY);
	for (size_t length = 0; length <= PARAMS_MAX; length++) {
		if (length == BODY)
			continue;
		assert_int_equal(decode(&params, wire, length, true), -1);
		assert_one_line(said.err, "instead of 48");
	}
}

/* On InfiniBand the LID is the address, and the GID may be zero. */
static void test_infiniband(void **state)
{
	uint8_t wire[BODY];
	struct params params;

	(void)state;
	memcpy(wire, good_wire, BODY);
	memset(wire + 8, 0, 16);
	assert_int_equal(decode(&params, wire, BODY, false), 0);
	wire[40] = 0;
	wire[41] = 0;
	assert_int_equal(decode(&params, wire, BODY, false), -1);
	assert_one_line(said.err, "LID 0x0 is none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_bytes),
		cmocka_unit_test(test_header_types),
		cmocka_unit_test(test_header_refused),
		cmocka_unit_test(test_body_bytes),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_body_refused),
		cmocka_unit_test(test_body_length),
		cmocka_unit_test(test_infiniband),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
