/*
 * probe.h - does what we send really arrive?
 */
#ifndef PROBE_H
#define PROBE_H

#include "data.h"

/*
 * Sends the peer a number that it cannot know and waits until it comes back,
 * by RDMA both ways, and sends the peer's number back. A completion with
 * success is no proof: with a wrong starting PSN, a receiver may take a new
 * packet for an old one, acknowledge it and drop it. Returns 0, or -1 having
 * said why.
 */
int probe_path(struct data *data);

/*
 * Whether the peer has what this completion is about. A client says goodbye
 * only when it has our MSG_DONE. So for that, its goodbye is as good as an
 * acknowledgement by its device, the last of which may be lost: then nobody is
 * left to send it again.
 */
bool probe_arrived(const struct data *data, const struct ibv_wc *wc);

#endif
