/*
 * test_04_psn.c - how PSNs are spread
 */
#include "oob.h"

#include "test.h"

#define DRAWS 100000

/*
 * Each byte is spread evenly, and so is the difference of two draws in a row, which that
 * of a counter is not. By Pearson's statistic of 256 bins: its mean is 255, its deviation
 * 22.6. Ten of those are not chance; too even is as wrong as too uneven.
 */
TEST(distribution)
{
	static unsigned int count[4][256];
	uint32_t last = 0, psn;

	for (unsigned int i = 0; i < DRAWS; i++, last = psn) {
		assert_int_equal(oob_draw_psn(&psn), 0);
		assert_in_range(psn, 0, 0xffffff);
		for (unsigned int byte = 0; byte < 3; byte++)
			count[byte][psn >> 8 * byte & 0xff]++;
		count[3][(psn - last) >> 16 & 0xff]++;
	}
	for (unsigned int byte = 0; byte < 4; byte++) {
		double want = DRAWS / 256.0, sum = 0;

		for (unsigned int i = 0; i < 256; i++)
			sum += (count[byte][i] - want) *
			       (count[byte][i] - want) / want;
		assert_true(sum > 255 - 226 && sum < 255 + 226);
	}
}
