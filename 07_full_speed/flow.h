/*
 * flow.h - credits: how many messages the peer has receives for
 *
 * A SEND needs a receive at the other side, and so does a WRITE with immediate
 * data. Each side posts receives, and says how many. The other side counts them down
 * as it sends, and up again when it is told that some were posted again. A side that
 * stops at zero never meets a receiver that is not ready (RNR).
 *
 * This module makes no call of the library: it only counts.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stdbool.h>

struct flow {
	unsigned int ours; /* receives that we have posted */
	unsigned int theirs; /* that the peer has, at most */
	unsigned int may; /* how many of these we may still use up */
	unsigned int owed; /* of ours, posted, but not yet reported */
};

/* The least depth that works. */
#define FLOW_LEAST 4

/*
 * Whether a message may be sent that is not meant to return credits. The
 * last credit is reserved for those: if both sides had spent their last one on
 * data, neither could tell the other that there is room again.
 */
bool flow_may_send(const struct flow *flow);

/* Whether we owe enough for a CREDIT message, and have a credit to send it. */
bool flow_must_return(const struct flow *flow);

/* A message with a header goes out. Returns the credits that it takes along. */
unsigned int flow_send(struct flow *flow);

/*
 * The peer says that it has posted this many. Returns 0, or -1 after
 * reporting that these are more than it can have.
 */
int flow_returned(struct flow *flow, unsigned int credits);

#endif
