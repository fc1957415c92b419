/*
 * transfer.h - one transfer: from completions to what to do next
 */
#ifndef TRANSFER_H
#define TRANSFER_H

#include "data.h"
#include "state.h"

/* One transfer. Set data and mode; zero the rest. */
struct transfer {
	struct data *data; /* borrowed */
	enum mode mode;
	struct states states;
	struct remote peer; /* once the peer's MSG_MR is here */
	enum mode peer_mode; /* what the peer says that it runs */
};

/*
 * Moves the machines as event demands and does what follows from it.
 * Returns 0; 1 if the transfer is finished; or -1 after reporting why.
 */
int transfer_event(struct transfer *transfer, enum event event);

/* The same for a completion, which may be a failure. */
int transfer_completion(struct transfer *transfer, const struct ibv_wc *wc);

/*
 * Takes completions until the transfer is finished. first: sends our MSG_MR
 * before the peer's is here. Returns 0, or -1 after reporting why.
 */
int transfer_run(struct transfer *transfer, bool first);

#endif
