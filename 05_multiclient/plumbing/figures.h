/*
 * figures.h - who is let in, and what became of each client
 *
 * The threads of all clients write here, so each function takes the lock.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include <pthread.h>

/* How far a client has come: where it fails, or STEP_DONE. */
enum step {
	STEP_HANDSHAKE,
	STEP_EXCHANGE,
	STEP_OBJECTS,
	STEP_TRANSFER,
	STEP_GOODBYE,
	STEP_DONE,
	STEP_COUNT
};

struct figures {
	pthread_mutex_t lock; /* for what follows */
	unsigned int max; /* clients that may be connected at a time */
	unsigned int strangers; /* accepted, but not yet identified */
	unsigned int connected; /* let in, but not yet gone */
	unsigned int number; /* of the client that was let in last */
	unsigned int refused;
	unsigned int left[STEP_COUNT]; /* after this step */
};

/* A client has connected. */
void figures_arrive(struct figures *figures);

/*
 * A stranger has shown who it is. Returns its number, or 0 if there is no room
 * for it; *connected says how many are connected, it included.
 */
unsigned int figures_let_in(struct figures *figures, unsigned int *connected);

/* A stranger has shown who it is, and gets no place, even if there is one. */
void figures_refuse(struct figures *figures);

/* It has left; STEP_HANDSHAKE: as a stranger. */
void figures_leave(struct figures *figures, enum step step);

/* All figures as they are now. */
struct figures figures_now(struct figures *figures);

#endif
