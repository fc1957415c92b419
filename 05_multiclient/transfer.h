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
};

/*
 * Starts the operation, and takes completions until the transfer is finished.
 * Returns 0, or -1 after reporting why.
 */
int transfer_run(struct transfer *transfer);

#endif
