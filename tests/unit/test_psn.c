/*
 * test_psn.c - where PSNs come from, and how they are spread
 */
#include "psn.h"

#include <stdlib.h>

#include "test.h"
#include "psn_source.h"

#define DRAWS 100000

static int draw(uint32_t *psn)
{
	calls = 0;
	asked = 0;
	return CAPTURED(psn_draw(psn));
}

/* The PSN that comes of these three bytes, asked for once. */
static uint32_t psn_of(uint8_t first, uint8_t second, uint8_t third)
{
	const uint8_t bytes[3] = { first, second, third };
	uint32_t psn = 0xeeeeeeee;

	planned = bytes;
	assert_int_equal(draw(&psn), 0);
	assert_string_equal(said.err, "");
	planned = NULL;
	assert_int_equal(calls, 1);
	assert_int_equal(asked, 3);
	assert_int_equal(flagged, 0);
	return psn;
}

/* All 24 bits, each from a bit of its own, and none beyond. */
TEST(bits)
{
	assert_int_equal(PSN_MAX, 0xffffff);
	assert_int_equal(psn_of(0, 0, 0), 0);
	assert_int_equal(psn_of(0xff, 0xff, 0xff), PSN_MAX);
	assert_int_equal(psn_of(0x12, 0x34, 0x56), 0x123456);
	assert_int_equal(psn_of(0x80, 0, 1), 0x800001);
	for (int bit = 0; bit < PSN_BITS; bit++) {
		uint8_t from[3] = { 0 };

		from[2 - bit / 8] = 1 << bit % 8;
		assert_int_equal(psn_of(from[0], from[1], from[2]), 1U << bit);
	}
}

/* No number is made up instead. */
TEST(failure)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		uint32_t psn = 0xdeadbeef;

		source_fails(i);
		assert_int_equal(draw(&psn), -1);
		assert_one_line(said.err, "error: " SOURCE ": ");
		assert_true(psn == 0xdeadbeef);
	}
	source_fails(-1);
}

/*
 * Pearson's statistic of DRAWS draws in the bins that count[] has: of bins - 1
 * degrees of freedom, whose mean is that and whose deviation is the root of
 * twice that. Ten deviations off is not chance.
 */
static double chi_square(const unsigned int *count, unsigned int bins)
{
	double want = (double)DRAWS / bins, sum = 0;

	for (unsigned int i = 0; i < bins; i++)
		sum += (count[i] - want) * (count[i] - want) / want;
	return sum;
}

/* Each of the three bytes, looked at alone, is spread evenly. */
TEST(distribution)
{
	static unsigned int count[3][256];
	static unsigned int bits[24];
	double off;

	for (unsigned int i = 0; i < DRAWS; i++) {
		uint32_t psn;

		assert_int_equal(psn_draw(&psn), 0);
		assert_in_range(psn, 0, 0xffffff);
		for (unsigned int byte = 0; byte < 3; byte++)
			count[byte][psn >> 8 * byte & 0xff]++;
		for (unsigned int bit = 0; bit < 24; bit++)
			bits[bit] += psn >> bit & 1;
	}
	for (unsigned int byte = 0; byte < 3; byte++) {
		/* 255 degrees: 255 with a deviation of 22.6. Too even is */
		/* as wrong as too uneven: a counter would be that. */
		off = chi_square(count[byte], 256) - 255;
		assert_true(off * off < 226.0 * 226.0);
	}
	/* A bit is set in half the draws: a deviation of 158. */
	for (unsigned int bit = 0; bit < 24; bit++)
		assert_in_range(bits[bit], DRAWS / 2 - 1580, DRAWS / 2 + 1580);
}

/*
 * Two draws in a row have nothing to do with each other: the difference is
 * spread like the draws, which that of a counter or of a poor generator is not.
 */
TEST(differences)
{
	static unsigned int count[256];
	uint32_t last, psn;
	double off;

	assert_int_equal(psn_draw(&last), 0);
	for (unsigned int i = 0; i < DRAWS; i++, last = psn) {
		assert_int_equal(psn_draw(&psn), 0);
		count[(psn - last) >> 16 & 0xff]++;
	}
	off = chi_square(count, 256) - 255;
	assert_true(off * off < 226.0 * 226.0);
}

static int compare(const void *a, const void *b)
{
	return (*(uint32_t *)a > *(uint32_t *)b) -
	       (*(uint32_t *)a < *(uint32_t *)b);
}

/*
 * Numbers come twice about as often as they should: of n draws about
 * n * n / 2 / 2^24, here 298, with a deviation of the root of that, 17.
 */
TEST(repeats)
{
	static uint32_t draws[DRAWS];
	int pairs = 0;

	for (int i = 0; i < DRAWS; i++)
		assert_int_equal(psn_draw(&draws[i]), 0);
	qsort(draws, DRAWS, sizeof(*draws), compare);
	for (int i = 1; i < DRAWS; i++)
		pairs += draws[i] == draws[i - 1];
	assert_in_range(pairs, 298 - 170, 298 + 170);
}
