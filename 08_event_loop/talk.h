/*
 * talk.h - what a client says, and what is said and written to it
 *
 * First the transfer of 02_write_read, and then requests and their answers. Nothing
 * here waits: a completion goes in, and what follows from it is posted.
 */
#ifndef TALK_H
#define TALK_H

#include "shared.h"
#include "state.h"

/* Answers that a client has yet to take, at most: each is an answer and a write. */
#define TALK_WINDOW 7

/* MSG_DONE may still be there when the first answers go. */
#define TALK_SENDS (2 * TALK_WINDOW + 1)

/* Set the first two, and zero the rest. */
struct talk {
	struct shared *shared;
	struct rdma_cm_id *id; /* id->qp is the queue pair */
	unsigned int pending; /* sends and writes that have yet to complete */
	struct states states; /* of the transfer */
	struct region exposed; /* lent to it until the transfer is finished */
	struct remote peer; /* what it has lent to us */
	enum mode peer_mode; /* what it says that it runs */
	unsigned int under_way; /* answers that have yet to complete */
	struct receive *waiting[TALK_WINDOW]; /* requests that wait for these */
	unsigned int waits;
	unsigned long count; /* requests */
};

/*
 * A receive, or a send or write, of this client is complete, or has failed. The
 * receive stays the caller's: what still needs it is one user more. Both return 0, or
 * -1 after reporting why the client has to go.
 */
int talk_receive(struct talk *talk, const struct ibv_wc *wc);
int talk_send(struct talk *talk, const struct ibv_wc *wc);

/* Whether the transfer is finished, so that the client may ask. */
bool talk_is_greeted(const struct talk *talk);

/* Takes back what is lent, and gives up the requests that wait. */
void talk_close(struct talk *talk);

#endif
