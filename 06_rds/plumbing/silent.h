/*
 * silent.h - hosts that do not acknowledge what they are sent
 */
#ifndef SILENT_H
#define SILENT_H

#include <stdbool.h>
#include <stdint.h>

#include "rds.h"

enum {
	SILENT_MAX = 64, /* hosts; one more takes the oldest's place */
	SILENT_TIMES = 10 /* as long as we waited for it, it is not answered */
};

struct silent {
	struct silent_host {
		struct in_addr host;
		int64_t until; /* as wait_deadline() has it; 0: nobody */
	} hosts[SILENT_MAX];
	unsigned int next; /* whose place the next one takes */
};

/* Whether this peer's host is given up, and to be sent nothing. */
bool silent_has(const struct silent *silent, const struct sockaddr_in *to);

/*
 * A message to this peer could not be sent in time. Gives up on the host that the
 * send buffer is full of, or on the peer's own if it is not full: cancels all that
 * is queued for it, says so, and remembers the host.
 */
void silent_add(struct silent *silent, struct rds *rds,
		const struct sockaddr_in *to);

#endif
