/*
 * answer.h - what the server does with a datagram
 */
#ifndef ANSWER_H
#define ANSWER_H

#include <stdbool.h>

#include "counts.h"
#include "lend.h"
#include "rds.h"
#include "silent.h"
#include "wait.h"

struct answer {
	struct rds rds; /* the port that is served */
	struct rds control; /* the one after it, if there is one */
	struct counts counts;
	struct lend lend;
	struct silent silent;
	char *buf; /* of DGRAM_MAX bytes */
	bool once; /* the first goodbye ends it all */
	const struct patience *patience; /* borrowed */
};

/*
 * Allocates memory. The caller opens the sockets; answer_close() closes them,
 * and accepts a struct that is only partly set up. Returns 0, or -1 after
 * reporting why.
 */
int answer_open(struct answer *answer, bool once,
		const struct patience *patience);
void answer_close(struct answer *answer);

/* What the two below return besides 0 and -1. */
enum {
	ANSWER_BYE = 1, /* it is over */
	ANSWER_READ_ON /* read the port from now on */
};

/*
 * Takes the next datagram from the port, if there is one, and answers it. If it
 * cannot be received, or a client sends nonsense or cannot be answered, this
 * reports it and goes on, unless the first goodbye ends the server: then there
 * is nobody else to wait for. Returns 0, ANSWER_BYE, or -1 after reporting why.
 */
int answer_next(struct answer *answer);

/*
 * The same from the control port, on which only DGRAM_READ_ON may come. Returns
 * 0, ANSWER_READ_ON, or -1 after reporting why.
 */
int answer_control(struct answer *answer);

#endif
