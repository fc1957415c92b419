/*
 * bench.h - how fast are writes and reads: the client measures, the server
 * lends its memory
 *
 *     client                            server
 *     MSG_BENCH (length)  -->           registers length fresh bytes
 *                         <--           MSG_MR
 *     writes, reads                     (its program sleeps, and looks at times
 *     a number behind the bytes         whether that number has changed)
 *     MSG_DONE            -->           checks every byte
 *     checks every byte   <--           MSG_DONE
 *     sends: see echo.h   -->           checks every byte
 */
#ifndef BENCH_H
#define BENCH_H

#include "data.h"
#include "options.h"

/*
 * Client: borrows memory, measures writes, reads and sends as options say, has
 * the data checked on both ends and prints the table. Returns 0, or -1 after
 * reporting why.
 */
int bench_client(struct data *data, const struct options *options);

/*
 * Server: lends length bytes to the client that asked for them, and checks
 * them when it is done; then takes what it sends, with depth receives, until it
 * disconnects. Returns 0, or -1 after reporting why; also if no sign of life
 * came for as long as a peer may take.
 */
int bench_serve(struct data *data, uint32_t length, unsigned int depth);

/* Server: tells such a client that it lends none. Returns 0 or -1. */
int bench_refuse(struct data *data);

#endif
