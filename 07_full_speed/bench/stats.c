/*
 * stats.c - what a benchmark found, and how it is printed
 */
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "log.h"

uint64_t stats_now(void)
{
	struct timespec now;

	/* Fails only for an unknown clock or a bad address, so not here. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The smallest sample that at least permille of 1000 do not exceed. */
static uint64_t percentile(const uint64_t *sorted, size_t count, int permille)
{
	size_t rank = (count * permille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

void stats_latency(struct stats *stats, uint64_t *samples, size_t count)
{
	qsort(samples, count, sizeof(*samples), compare);
	stats->min = samples[0];
	stats->median = percentile(samples, count, 500);
	stats->p99 = percentile(samples, count, 990);
	stats->p999 = percentile(samples, count, 999);
	stats->max = samples[count - 1];
}

/* MB are 10^6 bytes. */
static double mb_per_s(const struct stats *s)
{
	return (double)s->bytes * s->count * 1e3 / s->elapsed;
}

static double ops_per_s(const struct stats *s)
{
	return s->count * 1e9 / s->elapsed;
}

static void print_csv(const struct stats *s)
{
	log_line("%s,%zu,%u,%u,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.0f", s->op,
		 s->bytes, s->depth, s->count, s->min / 1e3, s->median / 1e3,
		 s->p99 / 1e3, s->p999 / 1e3, s->max / 1e3, mb_per_s(s),
		 ops_per_s(s));
}

static void print_aligned(const struct stats *s)
{
	log_line("%-5s %8zu %5u %7u %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.0f",
		 s->op, s->bytes, s->depth, s->count, s->min / 1e3,
		 s->median / 1e3, s->p99 / 1e3, s->p999 / 1e3, s->max / 1e3,
		 mb_per_s(s), ops_per_s(s));
}

void stats_print(const struct stats *stats, size_t count, bool csv)
{
	if (csv)
		log_line(
			"op,bytes,depth,count,min_us,median_us,p99_us,p99.9_us,max_us,mb_per_s,ops_per_s");
	else
		log_line("%-5s %8s %5s %7s %8s %8s %8s %8s %8s %8s %8s", "op",
			 "bytes", "depth", "count", "min us", "median", "p99",
			 "p99.9", "max", "MB/s", "ops/s");
	for (size_t i = 0; i < count; i++)
		csv ? print_csv(&stats[i]) : print_aligned(&stats[i]);
}
