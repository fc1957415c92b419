/*
 * test_06_stats.c - what the benchmark of chapter 06 makes of its samples
 */
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

/* The latencies of 1, 2, ... count, in an order that is not sorted. */
static struct stats latencies(size_t count)
{
	uint64_t *samples = calloc(count, sizeof(*samples));
	struct stats stats = { 0 };

	assert_non_null(samples);
	for (size_t i = 0; i < count; i++)
		samples[i * 7919 % count] = i + 1;
	stats_latency(&stats, samples, count);
	free(samples);
	return stats;
}

static void assert_latencies(struct stats s, uint64_t median, uint64_t p99,
			     uint64_t p999, uint64_t max)
{
	assert_int_equal(s.min, 1);
	assert_int_equal(s.median, median);
	assert_int_equal(s.p99, p99);
	assert_int_equal(s.p999, p999);
	assert_int_equal(s.max, max);
}

TEST(percentiles)
{
	assert_latencies(latencies(1), 1, 1, 1, 1);
	assert_latencies(latencies(2), 1, 2, 2, 2);
	assert_latencies(latencies(3), 2, 3, 3, 3);
	assert_latencies(latencies(99), 50, 99, 99, 99);
	assert_latencies(latencies(100), 50, 99, 100, 100);
	assert_latencies(latencies(101), 51, 100, 101, 101);
	assert_latencies(latencies(999), 500, 990, 999, 999);
	/* From here on, p99.9 is another one than the largest. */
	assert_latencies(latencies(1000), 500, 990, 999, 1000);
	assert_latencies(latencies(1001), 501, 991, 1000, 1001);
	assert_latencies(latencies(100000), 50000, 99000, 99900, 100000);
}

/* Larger than an int, and further apart than one. */
TEST(large_samples)
{
	uint64_t samples[] = { 3000000001, 1, 3000000000, 8000000000 };
	struct stats s = { 0 };

	stats_latency(&s, samples, 4);
	assert_int_equal(s.min, 1);
	assert_true(s.median == 3000000000);
	assert_true(s.p99 == 8000000000);
	assert_true(s.max == 8000000000);
}

static const struct stats table[] = {
	{ .op = "write",
	  .bytes = 4096,
	  .depth = 64,
	  .count = 10000,
	  .min = 15000,
	  .median = 20150,
	  .p99 = 31000,
	  .p999 = 99949,
	  .max = 1234567,
	  .elapsed = 500000000 },
	{ .op = "read",
	  .bytes = 67108864,
	  .depth = 1024,
	  .count = 1000000,
	  .min = 1,
	  .median = 1000,
	  .p99 = 2000,
	  .p999 = 3000,
	  .max = 4000,
	  .elapsed = 400000000000 },
};

TEST(csv)
{
	CAPTURE(stats_print(table, 2, true));
	assert_string_equal(
		said.out,
		"op,bytes,depth,count,min_us,median_us,p99_us,p99.9_us,max_us,"
		"mb_per_s,ops_per_s\n"
		"write,4096,64,10000,15.0,20.1,31.0,99.9,1234.6,81.9,20000\n"
		"read,67108864,1024,1000000,0.0,1.0,2.0,3.0,4.0,167772.2,"
		"2500\n");
}
