/*
 * test_04_psn.c - where PSNs come from, and how they are spread
 *
 * RAND_bytes() is ours here: it counts its calls and can be made to fail.
 * Otherwise the real generator answers.
 */
#include "psn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/rand.h>

#include "capture.h"

#define DRAWS 100000

static unsigned int calls;
static size_t asked;
static int answer = 1;
static const uint8_t *planned;

int RAND_bytes(unsigned char *buf, int num)
{
	calls++;
	asked += num;
	if (answer != 1)
		return answer;
	if (!planned)
		return RAND_bytes_ex(NULL, buf, num, 0);
	memcpy(buf, planned, num);
	return 1;
}

static int draw(uint32_t *psn, struct captured *said)
{
	int ret;

	calls = 0;
	asked = 0;
	capture_start();
	ret = psn_draw(psn);
	capture_stop(said);
	return ret;
}

/* Three bytes of RAND_bytes(), asked for once, and all 24 bits used. */
static void test_source(void **state)
{
	static const uint8_t bytes[][3] = { { 0x12, 0x34, 0x56 },
					    { 0, 0, 0 },
					    { 0xff, 0xff, 0xff },
					    { 0x80, 0, 1 } };
	static const uint32_t want[] = { 0x123456, 0, 0xffffff, 0x800001 };
	struct captured said;
	uint32_t psn;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		planned = bytes[i];
		psn = 0xdeadbeef;
		assert_int_equal(draw(&psn, &said), 0);
		assert_int_equal(psn, want[i]);
		assert_int_equal(calls, 1);
		assert_int_equal(asked, 3);
	}
	planned = NULL;
}

/* 0 and -1 are both failures, and no number is made up instead. */
static void test_failure(void **state)
{
	struct captured said;

	(void)state;
	for (answer = 0; answer >= -1; answer--) {
		uint32_t psn = 0xdeadbeef;

		assert_int_equal(draw(&psn, &said), -1);
		assert_one_line(said.err, "error: RAND_bytes: ");
		assert_true(psn == 0xdeadbeef);
	}
	answer = 1;
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
static void test_distribution(void **state)
{
	static unsigned int count[3][256];
	static unsigned int bits[24];
	double off;

	(void)state;
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
static void test_differences(void **state)
{
	static unsigned int count[256];
	uint32_t last, psn;
	double off;

	(void)state;
	assert_int_equal(psn_draw(&last), 0);
	for (unsigned int i = 0; i < DRAWS; i++, last = psn) {
		assert_int_equal(psn_draw(&psn), 0);
		count[(psn - last) >> 16 & 0xff]++;
	}
	off = chi_square(count, 256) - 255;
	assert_true(off * off < 226.0 * 226.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_distribution),
		cmocka_unit_test(test_differences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
