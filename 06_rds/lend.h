/*
 * lend.h - memory that clients may write to by RDMA, each once
 */
#ifndef LEND_H
#define LEND_H

#include "rds.h"

enum {
	LEND_SIZE = 1024, /* bytes of a loan */
	LEND_MAX = 16 /* loans at a time */
};

struct loan {
	struct sockaddr_in to; /* who has it; of no family: nobody */
	rds_rdma_cookie_t key; /* the last one; 0: the page was never lent */
	int64_t until; /* when it is taken back, as wait_deadline() has it */
	char *memory; /* LEND_SIZE bytes, in a page of their own */
};

struct lend {
	char *pages; /* of all loans */
	size_t page; /* bytes of each */
	struct loan loans[LEND_MAX];
};

/* Returns 0, or -1 after reporting why. Either way, end with lend_close(). */
int lend_open(struct lend *lend);
void lend_close(struct lend *lend);

/*
 * Gives this client a loan until then, with nothing in its memory, after taking
 * back the one that it has. Returns NULL after reporting why, as when LEND_MAX
 * others have one.
 */
struct loan *lend_begin(struct lend *lend, struct rds *rds,
			const struct sockaddr_in *to, int64_t until);

/*
 * Sends a datagram to the client together with the key of its loan. The key is
 * good for one write. Returns 0, or -1 with errno, as rds_send().
 */
int lend_send(struct loan *loan, struct rds *rds, const void *buf,
	      size_t length);

/* The loan of this client; NULL: it has none. */
struct loan *lend_find(struct lend *lend, const struct sockaddr_in *to);

/* Takes it back, used or not. Returns 0, or -1 after reporting why. */
int lend_end(struct loan *loan, struct rds *rds);

/* When to take back the next loan; INT64_MAX: there is none. */
int64_t lend_deadline(const struct lend *lend);

/* Takes back loans that were not used in time, and says so. */
void lend_expire(struct lend *lend, struct rds *rds);

#endif
