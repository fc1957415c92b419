/*
 * latency.h - how long the answers took
 */
#ifndef LATENCY_H
#define LATENCY_H

#include <stddef.h>
#include <stdint.h>

/* Zero it before latency_open(). */
struct latency {
	uint32_t *us; /* one for each answer */
	size_t count, room;
};

/* With room for that many. Returns 0, or -1 after reporting why. */
int latency_open(struct latency *latency, size_t room);
void latency_close(struct latency *latency);

/* The time now, in ns. */
int64_t latency_now(void);

/* An answer came that long after its request. */
void latency_add(struct latency *latency, int64_t ns);

/* Call it once, when all are there. */
void latency_sort(struct latency *latency);

/* The time in us within which permille of 1000 came; 0 if there are none. */
uint32_t latency_of(const struct latency *latency, unsigned int permille);

#endif
