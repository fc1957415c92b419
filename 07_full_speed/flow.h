/*
 * flow.h - credits: how many messages the peer has receives for
 *
 * A SEND needs a receive at the other side, and so does a WRITE with immediate
 * data. Each side posts depth receives before files go across. The other one counts
 * them down as it sends, and up again as it is told that some were posted again.
 * Whoever stops at zero never meets a receiver that is not ready (RNR).
 *
 * No call of the library is in here: only the counting.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stdbool.h>

struct flow {
	unsigned int depth; /* receives that each side has */
	unsigned int may; /* of the peer's, those that we may still use up */
	unsigned int owed; /* of ours, posted again and not yet told */
	unsigned long waits; /* how often there was no credit: see channel.c */
};

/* Both sides begin with depth receives, at least FLOW_LEAST. */
#define FLOW_LEAST 4
void flow_open(struct flow *flow, unsigned int depth);

/*
 * Whether a message may be sent that is not there to return credits. The last
 * credit is kept for one that is: if both sides had spent their last one on data,
 * neither could tell the other that there is room again.
 */
bool flow_may_send(const struct flow *flow);

/* Whether enough is owed for a message of its own, and there is a credit for it. */
bool flow_must_return(const struct flow *flow);

/* A message goes out. Returns the credits that it takes along. */
unsigned int flow_send(struct flow *flow);

/* A message without a header goes out: it takes none along. */
void flow_send_bare(struct flow *flow);

/* A receive was posted again. */
void flow_posted(struct flow *flow);

/*
 * The peer has posted so many again. Returns 0, or -1 having said that they are
 * more than there are.
 */
int flow_returned(struct flow *flow, unsigned int credits);

#endif
