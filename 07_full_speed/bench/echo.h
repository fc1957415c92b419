/*
 * echo.h - SENDs in a benchmark, with credits in the answers
 *
 *     client                            server
 *     SEND, SEND, ...     -->           posts each receive again
 *     SEND with imm. data -->
 *                         <--           empty SEND; its imm. data are credits
 */
#ifndef ECHO_H
#define ECHO_H

#include "bench.h"

/* Client: how many SENDs the server takes in all, and now. Zero it once. */
struct credits {
	unsigned int all, may;
};

/*
 * Client: sends all of the memory count times, with at most depth on their
 * way, and waits for the last answer. samples, if not NULL, gets the
 * nanoseconds of each round trip: use it with depth 1. Returns 0, or -1 after
 * reporting why.
 */
int echo_send(struct bench *bench, struct credits *credits, unsigned int depth,
	      unsigned int count, uint64_t *samples);

/*
 * Server: posts depth receives of length bytes in the memory, before the
 * client may send; and takes what comes until the client disconnects. Both
 * return 0, or -1 after reporting why; also if the client leaves while it owes
 * a SEND that asks.
 */
int echo_post(struct bench *bench, uint32_t length);
int echo_serve(struct bench *bench, uint32_t length);

#endif
