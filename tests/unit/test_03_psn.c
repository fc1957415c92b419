/*
 * test_03_psn.c - the packet sequence number to begin with
 *
 * getrandom(2) is played by this file: it gives what a test wants, or the
 * real thing.
 */
#include "psn.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture.h"

#define DRAWS 20000

static const uint8_t *bytes; /* NULL: really random ones */
static ssize_t gives; /* how many bytes it gives; -1: it fails */
static size_t asked;
static unsigned int flagged;
static struct captured said;

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	asked = length;
	flagged = flags;
	if (gives < 0) {
		errno = ENOSYS;
		return -1;
	}
	if (!bytes)
		return syscall(SYS_getrandom, buffer, length, flags);
	memcpy(buffer, bytes, gives);
	return gives;
}

static uint32_t draw(const uint8_t *from)
{
	uint32_t psn = 0xeeeeeeee;

	bytes = from;
	gives = 3;
	assert_int_equal(psn_draw(&psn), 0);
	return psn;
}

/* All 24 bits, each from a bit of its own, and none beyond. */
static void test_bits(void **state)
{
	(void)state;
	assert_int_equal(draw((uint8_t[]){ 0x00, 0x00, 0x00 }), 0);
	assert_int_equal(draw((uint8_t[]){ 0xff, 0xff, 0xff }), PSN_MAX);
	assert_int_equal(PSN_MAX, 0xffffff);
	for (int bit = 0; bit < PSN_BITS; bit++) {
		uint8_t from[3] = { 0 };

		from[2 - bit / 8] = 1 << bit % 8;
		assert_int_equal(draw(from), 1U << bit);
	}
	assert_int_equal(asked, 3);
	/* It waits until the kernel has gathered enough; see getrandom(2). */
	assert_int_equal(flagged, 0);
}

static void test_failure(void **state)
{
	static const ssize_t few[] = { -1, 0, 2 };

	(void)state;
	bytes = (uint8_t[]){ 1, 2, 3 };
	for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++) {
		uint32_t psn;
		int ret;

		gives = few[i];
		capture_start();
		ret = psn_draw(&psn);
		capture_stop(&said);
		assert_int_equal(ret, -1);
		assert_one_line(said.err, "error: getrandom: ");
	}
}

static int compare(const void *a, const void *b)
{
	return (*(uint32_t *)a > *(uint32_t *)b) -
	       (*(uint32_t *)a < *(uint32_t *)b);
}

/*
 * Each bit is set in about half of the draws: with 20,000, being off by 500
 * would be 7 standard deviations. And numbers come twice about as often as
 * they should: 12 pairs on average, and more than 50 never.
 */
static void test_distribution(void **state)
{
	static uint32_t draws[DRAWS];
	int ones[PSN_BITS] = { 0 }, pairs = 0;

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		draws[i] = draw(NULL);
		assert_true(draws[i] <= PSN_MAX);
		for (int bit = 0; bit < PSN_BITS; bit++)
			ones[bit] += draws[i] >> bit & 1;
	}
	for (int bit = 0; bit < PSN_BITS; bit++)
		assert_in_range(ones[bit], DRAWS / 2 - 500, DRAWS / 2 + 500);
	qsort(draws, DRAWS, sizeof(*draws), compare);
	for (int i = 1; i < DRAWS; i++)
		pairs += draws[i] == draws[i - 1];
	assert_in_range(pairs, 0, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_distribution),
	};

	return cmocka_run_group_tests_name("03_psn", tests, NULL, NULL);
}
