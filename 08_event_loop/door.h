/*
 * door.h - how clients come and go
 */
#ifndef DOOR_H
#define DOOR_H

#include "guests.h"
#include "listener.h"
#include "options.h"

struct server {
	const struct options *options;
	struct loop loop;
	struct listener listener;
	struct watch requests; /* the listener's channel */
	struct guests guests;
};

/*
 * Listens. From now on, the loop lets clients in, or refuses them, and sees them go.
 * There is a hub for each device that one has come by. Returns 0, or -1 after
 * reporting why.
 */
int door_open(struct server *server);

/* Closes all hubs, when no client is left. */
void door_close_hubs(struct server *server);

#endif
