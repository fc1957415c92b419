/*
 * memory.h - which memory chapter 02's devices may use, and how
 */
#ifndef MEMORY_H
#define MEMORY_H

#include "data.h"

#define SIZE 3000

/* The messages; where an operation of ours begins; what the peer may use. */
static const struct wanted wanted[] = {
	{ MODE_WRITE,
	  3,
	  { { SLOT_COUNT * MSG_SIZE, IBV_ACCESS_LOCAL_WRITE },
	    { SIZE, 0 },
	    { SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE } } },
	{ MODE_READ,
	  3,
	  { { SLOT_COUNT * MSG_SIZE, IBV_ACCESS_LOCAL_WRITE },
	    { SIZE, IBV_ACCESS_LOCAL_WRITE },
	    { SIZE, IBV_ACCESS_REMOTE_READ } } },
};

/* Those after it run over no iWARP, and have no cm_help.h to know it by. */
#if __has_include("cm_help.h")
#define FILLED_BY_READ(mode, region) ((mode) == MODE_READ && (region) == 1)
#endif

static inline int open_memory(struct data *data, struct conn *conn, int mode)
{
	return data_open(data, conn, mode, SIZE);
}

#endif
