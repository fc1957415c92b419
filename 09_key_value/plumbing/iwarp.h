/*
 * iwarp.h - what RDMA over TCP (iWARP) needs, and RoCE and InfiniBand do not
 */
#ifndef IWARP_H
#define IWARP_H

#include <stdbool.h>

#include <infiniband/verbs.h>

#include "wait.h"

bool iwarp_is(const struct ibv_context *verbs);

/*
 * Over iWARP, the side that has accepted may send only when the other side's
 * first message has arrived. Waits for that, if need be: it makes comp_fd
 * readable, whose CQ must be armed. Returns 0, or -1 after reporting why.
 */
int iwarp_wait_turn(const struct ibv_context *verbs, int comp_fd,
		    const struct patience *patience);

#endif
