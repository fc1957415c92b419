/*
 * hub.h - what all clients of a device share: a protection domain, a CQ, an SRQ
 */
#ifndef HUB_H
#define HUB_H

#include <stdbool.h>

#include "loop.h"
#include "receives.h"
#include "table.h"

/* A queue pair of the hub. Its member leaves when nothing of it is in the CQ. */
struct hub_qp {
	struct table_entry entry; /* by its number */
	unsigned long marked, due; /* see hub_mark() */
	bool last; /* the device takes no more receives for it */
};

/* Zero it before hub_open(). */
struct hub {
	struct hub *next; /* of another device */
	struct loop *loop;
	struct ibv_context *verbs; /* the CM's */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp; /* says that the CQ has completions */
	struct ibv_cq *cq; /* of all clients, for sends and receives */
	struct receives receives; /* of all clients */
	struct region local; /* what is written to each of them */
	struct table qps; /* of all clients */
	struct watch completions, events;
	bool busy; /* the CQ may hold completions: do not sleep */
	unsigned long polls, empty; /* so far; the last that emptied the CQ */
	unsigned long due; /* by this poll, what was there at since is handled */
	int64_t since, served; /* all that came before served is handled */
	bool tells; /* the device says when a queue pair takes no more receives */
};

/*
 * Opens it on the device of verbs, with a CQ of that many entries, for about so many
 * clients, to each of whom bytes are written; loop watches it. Returns 0, or -1 after
 * reporting why. Either way, end with hub_close(), when no queue pair is left.
 */
int hub_open(struct hub *hub, struct loop *loop, struct ibv_context *verbs,
	     unsigned int entries, unsigned int clients, size_t bytes);
void hub_close(struct hub *hub);

/* The most completions that one turn of the loop takes off a CQ, and one poll. */
#define HUB_BUDGET 64
#define HUB_POLL 8

/* Takes at most HUB_POLL completions off the CQ. Returns how many, or -1. */
int hub_poll(struct hub *hub, struct ibv_wc *wc);

/*
 * Whatever qp has in the CQ now is to be taken off: hub_is_drained() says whether
 * that is done, however much the others add meanwhile.
 */
void hub_mark(struct hub *hub, struct hub_qp *qp);
bool hub_is_drained(const struct hub *hub, const struct hub_qp *qp);

#endif
