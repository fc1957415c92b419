/*
 * memory.h - which memory chapter 07's devices may use, and how
 */
#ifndef MEMORY_H
#define MEMORY_H

#include "data.h"

#define SIZE 3000

/* A benchmark's client has what it writes and reads, and lends nothing. */
static const struct wanted wanted[] = {
	{ MODE_BENCH,
	  2,
	  { { SLOT_COUNT * MSG_SIZE, IBV_ACCESS_LOCAL_WRITE },
	    { SIZE, IBV_ACCESS_LOCAL_WRITE } } },
	{ MODE_SEND, 1, { { SLOT_COUNT * MSG_SIZE, IBV_ACCESS_LOCAL_WRITE } } },
};

#define FILLED_BY_READ(mode, region) ((mode) == MODE_BENCH && (region) == 1)

static inline int open_memory(struct data *data, struct conn *conn, int mode)
{
	return data_open(data, conn, mode == MODE_BENCH ? SIZE : 0);
}

#endif
