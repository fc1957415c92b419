/*
 * bench.h - how fast are writes, reads and sends: one end measures, the other one
 * lends it memory
 *
 *     measures                          lends
 *     HELLO (length)      -->           registers length fresh bytes
 *                         <--           WELCOME (where they are)
 *     writes, reads                     (its program sleeps, and looks at times
 *     a number behind the bytes         whether that number has changed)
 *     END                 -->           checks every byte
 *     checks every byte   <--           STORED
 *     sends: see echo.h   -->           checks every byte
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>

#include "talk.h"

/* The most operations at a time. */
#define BENCH_DEPTH_MAX 1024

/* How many bytes of a request we would like to be able to post inline. */
#define BENCH_INLINE 64

/* What measures can be told to do without, to see what it is worth. */
enum {
	WITHOUT_SELECTIVE = 1, /* a completion only for the last of a chain */
	WITHOUT_CHAINS = 2, /* many requests posted in one call */
	WITHOUT_BATCHES = 4, /* many completions polled in one call */
	WITHOUT_INLINE = 8 /* small writes copied into the request */
};

/* One end of one connection. Set the first four, and zero the rest. */
struct bench {
	struct conn *conn; /* borrowed, as is the next */
	struct talk *talk;
	unsigned int depth; /* operations at a time */
	/* Only of who measures: */
	unsigned int bytes; /* of an operation */
	unsigned int count; /* operations */
	unsigned int without; /* WITHOUT_… */
	bool csv; /* what is found as comma-separated values */

	struct region memory; /* from which we send, or which we lend */
	uint32_t max_inline; /* bytes that the device really takes inline */
};

/*
 * Registers size bytes, page-aligned and zeroed, as the memory. All here return 0, or -1
 * after reporting why.
 */
int bench_memory(struct bench *bench, size_t size, int access);

/* The byte at i that both sides agree on; neighbours and pages differ. */
char bench_pattern(size_t i);

/* Checks size bytes of the memory, which were what. */
int bench_verify(const struct bench *bench, size_t size, const char *what);

/* Where the signs of life are in lent memory: after length bytes, aligned. */
size_t bench_beat(size_t length);

/* Borrows memory, measures, has the data checked on both ends and prints the tables. */
int measure(struct bench *bench);

/*
 * Lends memory to the client that asks for it, and checks it when it is done; then takes
 * what it sends, until it disconnects. Fails if no sign of life comes for as long as a
 * peer may take.
 */
int lend(struct bench *bench);

#endif
