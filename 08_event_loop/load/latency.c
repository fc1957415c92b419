/*
 * latency.c - how long the answers took
 */
#include "latency.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "log.h"

int latency_open(struct latency *latency, size_t room)
{
	latency->us = calloc(room, sizeof(*latency->us));
	if (!latency->us)
		return log_fail_errno("calloc", errno, "%zu times", room);
	latency->room = room;
	return 0;
}

void latency_close(struct latency *latency)
{
	free(latency->us);
	*latency = (struct latency){ 0 };
}

int64_t latency_now(void)
{
	struct timespec now;

	/* It cannot fail for this clock. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void latency_add(struct latency *latency, int64_t ns)
{
	if (latency->count < latency->room)
		latency->us[latency->count++] = ns / 1000;
}

static int compare(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return a < b ? -1 : a > b;
}

void latency_sort(struct latency *latency)
{
	qsort(latency->us, latency->count, sizeof(*latency->us), compare);
}

uint32_t latency_of(const struct latency *latency, unsigned int permille)
{
	/*
	 * The smallest that at least that part of all do not exceed: rounded
	 * up.
	 */
	size_t rank = (latency->count * permille + 999) / 1000;

	return latency->count ? latency->us[rank ? rank - 1 : 0] : 0;
}
