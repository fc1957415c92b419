/*
 * place.h - one client's place: what belongs to this client, and to no other
 *
 * A protection domain, a completion queue and a queue pair with a PSN of its own,
 * and three regions of memory. Both ends have one for each connection. Before that,
 * the server says whether there is a place at all:
 *
 *     client                          server
 *                      <--            hello (see oob.h)
 *                      <--            PLACE number, connected of max
 *     params           -->            (and so on, as in chapter 04)
 *
 * Functions return 0, or -1 after reporting why, unless it says otherwise.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "transfer.h"

/* How long a client may stay connected when everything is done, in seconds. */
#define PLACE_HOLD_MAX 3600

/* How many objects exist in all places. What cannot be destroyed stays counted. */
struct held {
	atomic_int pds, cqs, qps, mrs;
};

struct place {
	/* Set these, and zero the rest. */
	struct conn conn; /* its patience and network */
	struct transfer transfer; /* its mode and bytes */
	struct held *held; /* borrowed; only a place of a server has it */
	unsigned int number; /* from 1 up: what the server calls the client */
};

/* Server: tells the client its number; or, if that is 0, that there is no room. */
int place_tell(struct place *place, unsigned int connected, unsigned int max);

/* What place_reach() returns, after reporting it, if there is no room for us. */
#define PLACE_FULL 1

/*
 * Client: reaches the server, and hears its number there. Returns 0, PLACE_FULL or -1.
 * Until then, nothing was made that the server could know of.
 */
int place_reach(struct place *place, const struct oob_way *way);

/*
 * Creates all that is this client's, posts the receives, and puts a text with its
 * number where the peer will find it. The device must be known. Either way, end with
 * place_close().
 */
int place_open(struct place *place);

/* Whether what has arrived is all there, and was meant for this client. */
int place_check(const struct place *place);

/* Tells the peer that it is over, and frees everything. */
void place_close(struct place *place);

#endif
