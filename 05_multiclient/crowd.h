/*
 * crowd.h - all clients of a server, with a thread for each
 */
#ifndef CROWD_H
#define CROWD_H

#include <pthread.h>
#include <stdbool.h>

#include "addr.h"
#include "ending.h"
#include "figures.h"
#include "held.h"
#include "listener.h"
#include "options.h"
#include "share.h"
#include "turn.h"
#include "wait.h"
#include "who.h"

struct crowd;

/* A client, from its TCP connection on. It belongs to its thread. */
struct client {
	struct crowd *crowd; /* borrowed */
	struct oob *oob; /* to be closed by serve() */
	struct turn turn; /* for its handshake */
	char address[ADDR_TEXT_SIZE]; /* of a stranger; "": not one any more */
	struct who who; /* from the handshake on */
	bool has_share; /* it is counted for its identity */
};

struct crowd {
	const struct options *options; /* borrowed */
	struct listener listener; /* with the devices that all share */
	struct figures figures;
	struct held held;
	struct turns turns;
	struct share addresses; /* how many strangers are from each */
	struct share identities; /* how many clients each of them is */
	void (*serve)(struct client *client);
	unsigned int strangers_max;
	unsigned int taken; /* connections so far */
	bool listening;
	bool resting; /* a client could not be taken: wait a little */
	int usr1_fd; /* readable: SIGUSR1 came, or SIGHUP */
	int room_fd; /* readable: a thread or a handshake has ended */
	struct ending ending;
	pthread_mutex_t lock; /* for what follows */
	unsigned int threads;
	pthread_t last; /* the thread that ended last, if one did: */
	bool has_last; /* to be joined by the next one that ends */
};

/*
 * Opens the devices and listens, for at most as many clients as options say
 * and this process may have: see admission.h. serve() is the whole life of a
 * client; it closes client->oob. Signals must be blocked before. Returns 0, or
 * -1 after reporting why. Either way, end with crowd_close().
 */
int crowd_open(struct crowd *crowd, const struct options *options,
	       void (*serve)(struct client *client));

/*
 * Serves clients, each in a thread, until stop_fd is readable or as many as
 * options say have come; and returns when the last one has left: 0, or -1
 * after reporting why.
 */
int crowd_run(struct crowd *crowd, int stop_fd);

/*
 * Finds out who the client is, and counts it. Returns 0, or -1 after reporting
 * why it may not have one more connection.
 */
int crowd_share(struct client *client);

/* A handshake or a thread is over: there may be room for another one. */
void crowd_room(struct crowd *crowd);

/* Closes the devices and the listener, after crowd_run(). */
void crowd_close(struct crowd *crowd);

#endif
