/*
 * test_05_psn.c - the PSNs of many clients, drawn by many threads at once
 *
 * The lock, or the state, of a generator that threads share could make what
 * each of them gets uneven, or the same for several. Repeats are not looked
 * for: among so many numbers of 24 bits there are hundreds.
 */
#include "psn.h"

#include <pthread.h>
#include <stdlib.h>

#include "test.h"
#define THREADS 8
#define DRAWS 20000

static uint32_t drawn[THREADS][DRAWS];

static void *draw(void *argument)
{
	uint32_t *psns = argument;

	for (int i = 0; i < DRAWS; i++)
		if (psn_draw(&psns[i]))
			return psns;
	return NULL;
}

static int draw_all(void **state)
{
	pthread_t threads[THREADS];
	void *failed;
	int ret = 0;

	(void)state;
	for (int t = 0; t < THREADS; t++)
		if (pthread_create(&threads[t], NULL, draw, drawn[t]))
			return -1;
	for (int t = 0; t < THREADS; t++) {
		if (pthread_join(threads[t], &failed) || failed)
			ret = -1;
	}
	return ret;
}

/*
 * How far count numbers, counted in 256 bins, are from even: Pearson's
 * statistic, of 255 degrees of freedom, less its mean. Its deviation is 22.6;
 * ten of those are not chance.
 */
static void assert_even(const unsigned int bins[256], unsigned int count)
{
	double want = count / 256.0, sum = 0;

	for (int i = 0; i < 256; i++)
		sum += (bins[i] - want) * (bins[i] - want) / want;
	assert_true(sum > 255 - 226 && sum < 255 + 226);
}

/* Each thread's numbers, each byte of them, and all together. */
TEST(spread)
{
	static unsigned int all[3][256];

	for (int t = 0; t < THREADS; t++) {
		unsigned int own[3][256] = { { 0 } };

		for (int i = 0; i < DRAWS; i++) {
			uint32_t psn = drawn[t][i];

			assert_true(psn <= PSN_MAX);
			for (int byte = 0; byte < 3; byte++) {
				own[byte][psn >> 8 * byte & 0xff]++;
				all[byte][psn >> 8 * byte & 0xff]++;
			}
		}
		for (int byte = 0; byte < 3; byte++)
			assert_even(own[byte], DRAWS);
	}
	for (int byte = 0; byte < 3; byte++)
		assert_even(all[byte], THREADS * DRAWS);
}

/* No thread gets what another one got: not even now and then in a row. */
TEST(threads_differ)
{
	for (int a = 0; a < THREADS; a++) {
		for (int b = a + 1; b < THREADS; b++) {
			unsigned int bins[256] = { 0 }, equal = 0;

			for (int i = 0; i < DRAWS; i++) {
				uint32_t off = drawn[a][i] - drawn[b][i];

				bins[off >> 16 & 0xff]++;
				equal += !off;
			}
			assert_even(bins, DRAWS);
			/* By chance, once in 800 pairs of threads. */
			assert_true(equal < 3);
		}
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * As many repeats as there must be: of n draws about n * n / 2 / 2^24, here
 * 763 of 160,000, with a deviation of the root of that, 28. Fewer would mean
 * that somebody draws again, more that the source has fewer bits.
 */
TEST(repeats)
{
	static uint32_t sorted[THREADS * DRAWS];
	unsigned int repeats = 0;

	for (int i = 0; i < THREADS * DRAWS; i++)
		sorted[i] = drawn[i / DRAWS][i % DRAWS];
	qsort(sorted, THREADS * DRAWS, sizeof(sorted[0]), compare);
	for (int i = 1; i < THREADS * DRAWS; i++)
		repeats += sorted[i] == sorted[i - 1];
	assert_in_range(repeats, 763 - 280, 763 + 280);
}

AROUND_ALL(draw_all, NULL)
