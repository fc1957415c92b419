/*
 * pump.h - many RDMA operations, one after another or many at a time
 */
#ifndef PUMP_H
#define PUMP_H

#include "bench.h"

struct pump {
	struct bench *bench; /* borrowed */
	enum ibv_wr_opcode opcode;
	uint64_t addr; /* of the peer's memory, */
	uint32_t rkey; /* and its key */
	/* Where in the peer's memory our signs of life go: see bench.h; 0: none. */
	uint64_t beat;
	/* How many of them the send queue has room for, beside all operations. */
	unsigned int beats_max;
	unsigned int beats; /* that may still be in it */
};

/*
 * Moves all of the memory count times, with at most depth (1 to the depth
 * of the queue pair) operations at a time. samples, if not NULL, gets the
 * nanoseconds from posting to completion of each: give it with depth 1.
 * Polls without sleeping; ends when nothing completes within the deadline of
 * the connection, or the peer leaves. Returns 0, or -1 after reporting why.
 */
int pump_run(struct pump *pump, unsigned int depth, unsigned int count,
	     uint64_t *samples);

#endif
