/*
 * stats.h - what a benchmark found, and how it is printed
 */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of the table. */
struct stats {
	const char *op; /* "write" or "read" */
	size_t bytes; /* of one operation */
	unsigned int depth;
	unsigned int count;
	/* At depth 1: from posting to completion, in nanoseconds. */
	uint64_t min, median, p99, p999, max;
	/* At depth: all operations together, in nanoseconds. */
	uint64_t elapsed;
};

/* Nanoseconds on the monotonic clock. */
uint64_t stats_now(void);

/* Sorts count samples and fills the latencies of stats in. count > 0. */
void stats_latency(struct stats *stats, uint64_t *samples, size_t count);

/* Prints count lines with a heading, aligned or as comma-separated values. */
void stats_print(const struct stats *stats, size_t count, bool csv);

#endif
