/*
 * figures.h - what a server counts, and who is let in
 *
 * The threads of all clients write here, so each function takes the lock.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "held.h"
#include "params.h"

/* How far a client has come, and so where it failed. */
enum step {
	STEP_HANDSHAKE,
	STEP_EXCHANGE,
	STEP_OBJECTS,
	STEP_ECHO,
	STEP_TRANSFER,
	STEP_GOODBYE,
	STEP_COUNT
};

/* How often something happened, and how long it took, in nanoseconds. */
struct times {
	unsigned int count;
	uint64_t sum, max;
};

struct figures {
	pthread_mutex_t lock; /* for all of it */
	unsigned int max; /* clients that may be connected at a time */
	unsigned int shaking; /* accepted, and not yet known who it is */
	unsigned int connected; /* let in, and not yet gone */
	unsigned int peak; /* the most that were connected at a time */
	unsigned int number; /* of the client that was let in last */
	unsigned int served, refused;
	unsigned int failed[STEP_COUNT];
	uint64_t bytes_in, bytes_out; /* by RDMA, of those that were served */
	struct times handshake; /* from the connection to its end */
	struct times setup; /* from the connection until it can use RDMA */
};

/* At most max clients will be let in at a time. */
void figures_start(struct figures *figures, unsigned int max);

/* Nanoseconds on the monotonic clock. */
uint64_t figures_now(void);

/* A client has connected. */
void figures_arrive(struct figures *figures);

/*
 * Its handshake is over, well or not: ns nanoseconds. If it was, whether there
 * is room for it; what to tell it is in *hello.
 */
void figures_handshake(struct figures *figures, bool good, uint64_t ns,
		       struct hello *hello);

/* It can use RDMA, ns nanoseconds after it connected. */
void figures_setup(struct figures *figures, uint64_t ns);

/* It was served, and so many bytes went in and out; or failed at step. */
void figures_served(struct figures *figures, size_t in, size_t out);
void figures_failed(struct figures *figures, enum step step);

/* How many are shaking hands; how many have failed, at whatever step. */
unsigned int figures_shaking(struct figures *figures);
unsigned int figures_failures(struct figures *figures);

/*
 * Makes SIGUSR1, which asks for the figures, readable at *fd instead of deadly.
 * Returns 0, or -1 having said why. The caller closes *fd.
 */
int figures_signal(int *fd);

/* Prints all of it, and what objects exist, as a few lines of the story. */
void figures_print(struct figures *figures, const struct held *held);

#endif
