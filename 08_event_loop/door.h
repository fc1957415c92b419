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
	struct hub hub;
	struct guests guests;
};

/*
 * Listens. From now on, the loop lets clients in, or refuses them, and sees them go;
 * the first one shows which device is to be used. Returns 0, or -1 after reporting
 * why.
 */
int door_open(struct server *server);

#endif
