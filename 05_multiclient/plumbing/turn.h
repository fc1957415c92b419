/*
 * turn.h - who may compute now: few at a time, first come, first served
 *
 * A handshake is a little computing and much waiting for the peer. If a
 * thousand compute at once, they share the processors, and all of them are
 * late. If a few do while the others stand in line, the first are done at once.
 * No thread holds a place while it waits for its peer, so a silent peer keeps
 * nobody out.
 */
#ifndef TURN_H
#define TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct turns {
	pthread_mutex_t lock; /* for what follows */
	unsigned int places; /* that are free */
	struct turn *line; /* of those who wait for one, by number */
	bool closed;
};

/* A thread that sometimes computes. Set turns and number, zero the rest. */
struct turn {
	struct turns *turns;
	unsigned int number; /* the lower, the earlier it came */
	pthread_cond_t called;
	bool has_place;
	struct turn *next;
};

/* Two places for each processor. */
void turns_open(struct turns *turns);

/* Sends away all who wait, and gives no more places. */
void turns_close(struct turns *turns);

/*
 * Waits for a place, and postpones *deadline by as long as that took: that was
 * not the peer's fault. Returns 0, or -1 with errno ECANCELED if turns are
 * closed. Give the place back with turn_leave().
 */
int turn_take(struct turn *turn, int64_t *deadline);
void turn_leave(struct turn *turn);

#endif
