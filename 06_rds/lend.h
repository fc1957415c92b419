/*
 * lend.h - memory that a client may write to by RDMA, once
 */
#ifndef LEND_H
#define LEND_H

#include "rds.h"

enum {
	LEND_SIZE = 1024 /* bytes of what is lent */
};

struct lend {
	struct rds *rds; /* borrowed */
	char *memory; /* LEND_SIZE bytes, in a page of their own */
	struct sockaddr_in to; /* who has it; all zero: nobody */
	rds_rdma_cookie_t key;
	int64_t until; /* when it is to be taken back, as wait_deadline() has it */
};

/* Returns 0, or -1 after reporting why. Either way, end with lend_close(). */
int lend_open(struct lend *lend, struct rds *rds);

/* Close the socket first, which makes the kernel give up the registration. */
void lend_close(struct lend *lend);

/*
 * Sends a client the key of our memory, with nothing in it; the key is good for
 * one write. Returns 0, or -1 after reporting why, as when another has it.
 */
int lend_begin(struct lend *lend, const struct sockaddr_in *to);

/* Takes it back, used or not. Returns 0, or -1 after reporting why. */
int lend_end(struct lend *lend);

#endif
