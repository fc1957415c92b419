/*
 * door.h - who is let in
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
 * A client asks for a connection: makes it a guest, or refuses it. The first one
 * shows which device is to be used. asked: what it has asked for. Returns 0, or -1 if
 * all is lost.
 */
int door_ask(struct server *server, struct rdma_cm_id *id,
	     const struct rdma_conn_param *asked);

#endif
