/*
 * test_params_bytes.c - the messages of the exchange, byte by byte
 */
#include "params.h"

#include <stdio.h>
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

static const uint8_t good_wire[BODY] = {
	0, 0, 0,    0x11, 0,	0x12, 0x34, 0x56, 0,   0, 0,	0,
	0, 0, 0,    0,	  0,	0,    0xff, 0xff, 192, 0, 2,	1,
	0, 0, 0x55, 0xd0, 0xc0, 0xff, 0xee, 0,	  0,   0, 0x07, 0xf1,
	0, 0, 4,    0,	  0x07, 0x08, 3,    2,	  0,   0, 0,	0,
};

static int check_header(enum params_type type, const uint8_t *wire)
{
	return CAPTURED(params_check_header(type, wire));
}

static int decode(struct params *params, const uint8_t *wire, size_t length,
		  bool roce)
{
	return CAPTURED(params_decode(params, wire, length, roce));
}

TEST(header_bytes)
{
	static const uint8_t want[PARAMS_HEADER] = { 'R',     'D', 'M', 'X',
						     VERSION, 2,   0,	0,
						     0,	      0,   0,	48 };
	uint8_t wire[PARAMS_HEADER];

	assert_int_equal(params_header(PARAMS_PARAMS, wire), BODY);
	assert_memory_equal(wire, want, sizeof(want));
	assert_int_equal(params_header(PARAMS_HELLO, wire), HELLO_BODY);
	assert_int_equal(wire[5], 1);
	assert_int_equal(wire[11], HELLO_BODY);
}

/* Each type's header is good for that type, and for no other. */
TEST(header_types)
{
	uint8_t wire[PARAMS_HEADER];

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

TEST(header_refused)
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
		{ PARAMS_HELLO,
		  8,
		  { 0, 0, 0, HELLO_BODY + 4 },
		  4,
		  "instead of" },
		{ PARAMS_READY, 8, { 0, 0, 0, 12 }, 4, "announces 12 bytes" },
		{ PARAMS_BYE, 8, { 0, 0, 0, 48 }, 4, "announces 48 bytes" },
	};
	uint8_t wire[PARAMS_HEADER];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		params_header(cases[i].type, wire);
		memcpy(wire + cases[i].at, cases[i].bytes, cases[i].count);
		assert_int_equal(check_header(cases[i].type, wire), -1);
		assert_one_line(said.err, cases[i].says);
	}
}

TEST(version)
{
	uint8_t wire[PARAMS_HEADER];
	char reason[64];

	params_header(PARAMS_PARAMS, wire);
	for (int version = 0; version < 256; version++) {
		wire[4] = version;
		if (version == VERSION)
			continue;
		assert_int_equal(check_header(PARAMS_PARAMS, wire), -1);
		snprintf(reason, sizeof(reason),
			 "speaks version %d, this program version %d", version,
			 VERSION);
		assert_one_line(said.err, reason);
	}
}

TEST(body_bytes)
{
	uint8_t wire[PARAMS_MAX];

	assert_int_equal(params_encode(&good, wire), BODY);
	assert_memory_equal(wire, good_wire, BODY);
}

/* Each bit that means nothing must be zero. */
TEST(body_zeros)
{
	uint8_t wire[BODY];
	struct params params;

	for (size_t at = 44; at < BODY; at++)
		for (int bit = 0; bit < 8; bit++) {
			memcpy(wire, good_wire, BODY);
			wire[at] = 1 << bit;
			assert_int_equal(decode(&params, wire, BODY, true), -1);
			assert_one_line(said.err, "must be zero");
		}
}
