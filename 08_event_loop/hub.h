/*
 * hub.h - what all clients share: one protection domain, one CQ, one SRQ
 */
#ifndef HUB_H
#define HUB_H

#include <stdbool.h>

#include "loop.h"
#include "receives.h"

/* Zero it before hub_open(). */
struct hub {
	struct ibv_context *verbs; /* the CM's; NULL: not open */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp; /* says that the CQ has completions */
	struct ibv_cq *cq; /* of all clients, for sends and receives */
	struct receives receives; /* of all clients */
	struct watch completions, events;
	bool busy; /* the CQ may hold completions: do not sleep */
};

/*
 * Opens it on the device of verbs, with a CQ of that many entries; loop watches
 * it. Returns 0, or -1 after reporting why. Either way, end with hub_close(),
 * when no queue pair is left.
 */
int hub_open(struct hub *hub, struct loop *loop, struct ibv_context *verbs,
	     unsigned int entries);
void hub_close(struct hub *hub);

#endif
