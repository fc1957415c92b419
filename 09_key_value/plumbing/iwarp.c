/*
 * iwarp.c - what RDMA over TCP (iWARP) needs, and RoCE and InfiniBand do not
 */
#include "iwarp.h"

#include <errno.h>

bool iwarp_is(const struct ibv_context *verbs)
{
	return verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

int iwarp_wait_turn(const struct ibv_context *verbs, int comp_fd,
		    const struct patience *patience)
{
	/* If the client leaves instead, the flushed receive ends this. */
	if (iwarp_is(verbs) &&
	    wait_readable(comp_fd, -1, patience->stop_fd,
			  wait_deadline(patience->timeout_ms)) < 0)
		return wait_fail(
			"the client's message, which comes first over iWARP",
			errno, patience);
	return 0;
}
