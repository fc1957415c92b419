/*
 * crowd.h - all clients of a server, with a thread for each
 */
#ifndef CROWD_H
#define CROWD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "addr.h"
#include "place.h"

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
	unsigned int threads; /* that have not ended */
	unsigned int connected; /* let in, but not yet gone */
	unsigned int strangers; /* taken, but not yet identified */
	unsigned int number; /* of the client that was let in last */
	unsigned int refused;
	unsigned int left[STEP_COUNT]; /* after this step */
};

struct crowd;

/* A client, from its TCP connection on. It belongs to its thread. */
struct client {
	struct crowd *crowd; /* borrowed */
	struct oob oob; /* for conn_take() */
	struct client *next; /* in the list of strangers, until it is let in */
	char address[ADDR_TEXT_SIZE]; /* of a stranger */
	unsigned int number; /* from 1 up; 0: it was not let in */
	unsigned int connected; /* how many were, then */
};

struct crowd {
	/* Set these, and zero the rest. */
	struct conn listener; /* its patience and network */
	enum step (*serve)(struct client *client); /* its whole life */
	unsigned int max_clients; /* that may have a place at a time */
	unsigned int grace; /* seconds for the last clients after a signal */
	unsigned int end_after; /* connections; 0: no end */
	int stop_fd; /* readable when a signal came, SIGUSR1 as well; borrowed */

	struct held held; /* what exists for all of them */
	int room_fd; /* readable: a thread or a handshake has ended */
	int closing_fd; /* readable: no new clients, give up handshakes */
	int cut_fd; /* readable: the last clients give up, too */
	bool listening;
	bool asked; /* to stop, by a signal */
	int64_t deadline; /* for the last clients after that */
	unsigned int taken; /* connections so far */
	unsigned int max_strangers; /* at a time; half of that from one address */
	pthread_mutex_t lock; /* for what follows */
	struct client *strangers;
	struct figures figures;
	pthread_t last; /* the thread that ended last, if one did: */
	bool has_last; /* to be joined by the next one that ends */
};

/*
 * Listens, and opens the devices, which all clients share. Signals must be blocked
 * before. Returns 0, or -1 after reporting why. Either way, end with crowd_close().
 */
int crowd_open(struct crowd *crowd, const struct oob_way *way);

/*
 * Serves clients, each in a thread, until stop_fd is readable or end_after have
 * come; and returns when the last one has left, after printing the figures: 0, or
 * -1 after reporting why it cannot go on, or if one of end_after has failed.
 */
int crowd_run(struct crowd *crowd);

/* Closes the devices and the listener. */
void crowd_close(struct crowd *crowd);

/*
 * The client has shown who it is. If there is room, gives it a number, and it counts
 * as connected until serve() returns.
 */
void crowd_let_in(struct client *client);

#endif
