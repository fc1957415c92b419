/*
 * reply.h - from a request to its answer
 */
#ifndef REPLY_H
#define REPLY_H

#include "guests.h"

/*
 * A request of the guest is here, in receive, which stays in use until the answer
 * is complete. If too many answers are under way, it waits. Returns 0, or -1 after
 * reporting what is wrong with it.
 */
int reply_request(struct guests *guests, struct guest *guest,
		  struct receive *receive);

/* The guest has taken something: answers what waits for that. Returns 0, or -1. */
int reply_go_on(struct guests *guests, struct guest *guest);

#endif
