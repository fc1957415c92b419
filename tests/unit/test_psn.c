/*
 * test_psn.c - where PSNs come from, and how they are spread
 */
#include "oob.h"

#define PSN_BITS 24
#define PSN_MAX 0xffffff

#include "test.h"

/* The source of random numbers gives what a test wants, or the real thing. */
#if defined(CHAPTER_03)
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOURCE "getrandom"

static const uint8_t *planned; /* NULL: really random ones */
static ssize_t gives = 3; /* how many bytes it gives; -1: it fails */
static size_t asked;
static unsigned int calls;
/* It must wait until the kernel has gathered enough: getrandom(2). */
static unsigned int flagged;

static const ssize_t failures[] = { -1, 0, 2 };

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	calls++;
	asked += length;
	flagged |= flags;
	if (gives < 0) {
		errno = ENOSYS;
		return -1;
	}
	if (!planned)
		return syscall(SYS_getrandom, buffer, length, flags);
	memcpy(buffer, planned, gives);
	return gives;
}

static void source_fails(int i)
{
	static const uint8_t some[3] = { 1, 2, 3 };

	planned = i < 0 ? NULL : some;
	gives = i < 0 ? 3 : failures[i];
}
#else
#include <string.h>

#include <openssl/rand.h>

#define SOURCE "RAND_bytes"

static const uint8_t *planned; /* NULL: really random ones */
static int answer = 1;
static size_t asked;
static unsigned int calls;
static const unsigned int flagged; /* it has no flags */

/* 0 and -1 are both failures. */
static const int failures[] = { 0, -1 };

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

static void source_fails(int i)
{
	answer = i < 0 ? 1 : failures[i];
}
#endif

#define DRAWS 100000

static int draw(uint32_t *psn)
{
	calls = 0;
	asked = 0;
	return CAPTURED(oob_draw_psn(psn));
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
