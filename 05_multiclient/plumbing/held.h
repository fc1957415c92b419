/*
 * held.h - how many objects a server holds for its clients
 *
 * The threads of all clients count here, where each object is made and where it
 * is destroyed. What is not destroyed, or cannot be, stays counted.
 */
#ifndef HELD_H
#define HELD_H

#include <stdatomic.h>

enum object {
	HELD_PD,
	HELD_CQ,
	HELD_QP,
	HELD_MR,
	HELD_COUNT
};

struct held {
	atomic_int of[HELD_COUNT];
};

/* One object more, and one less. held may be NULL: does nothing. */
static inline void held_made(struct held *held, enum object object)
{
	if (held)
		held->of[object]++;
}

static inline void held_gone(struct held *held, enum object object)
{
	if (held)
		held->of[object]--;
}

#endif
