/*
 * pump.h - many RDMA operations, one after another or many at a time
 */
#ifndef PUMP_H
#define PUMP_H

#include "data.h"

/* What a pump can be told to do without, to see what it is worth. */
enum {
	WITHOUT_SELECTIVE = 1, /* a completion only for the last of a chain */
	WITHOUT_CHAINS = 2, /* many requests posted in one call */
	WITHOUT_BATCHES = 4, /* many completions polled in one call */
	WITHOUT_INLINE = 8 /* small writes copied into the request */
};

struct pump {
	struct data *data; /* borrowed */
	enum ibv_wr_opcode opcode;
	struct remote peer;
	unsigned int without; /* WITHOUT_… */
	/* Where in the peer's memory our signs of life go: see bench.h; 0: none. */
	uint64_t beat;
	/* How many of them the send queue has room for, beside all operations. */
	unsigned int beats_max;
	unsigned int beats; /* that may still be in it */
};

/*
 * Moves all of data->local count times, with at most depth (1 to the depth
 * of the queue pair) operations at a time. samples, if not NULL, gets the
 * nanoseconds from posting to completion of each: give it with depth 1.
 * Polls without sleeping; ends when nothing completes within the deadline of
 * the connection, or the peer leaves. Returns 0, or -1 after reporting why.
 */
int pump_run(struct pump *pump, unsigned int depth, unsigned int count,
	     uint64_t *samples);

#endif
