/*
 * door.h - who comes, and who goes
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
 * The CM's channel can be read: lets clients in, or refuses them, and sees them go.
 * The first one shows which device is to be used. Returns 0, or -1 if all is lost.
 */
int door_on_cm(void *server);

#endif
