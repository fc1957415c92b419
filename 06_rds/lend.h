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
	bool sent; /* the client has been sent its key */
	rds_rdma_cookie_t key; /* the last one; 0: there was none */
	int64_t until; /* when it is taken back, as wait_deadline() has it */
	char *memory; /* LEND_SIZE bytes, in a page of their own */
};

struct lend {
	struct rds *rds; /* borrowed */
	char *pages; /* of all loans */
	size_t page; /* bytes of each */
	struct loan loans[LEND_MAX];
};

/* Returns 0, or -1 after reporting why. Either way, end with lend_close(). */
int lend_open(struct lend *lend, struct rds *rds);

/* Close the socket first, which makes the kernel give up all registrations. */
void lend_close(struct lend *lend);

/*
 * Gives this client a loan until then, with nothing in its memory, after taking
 * back the one that it has. Returns NULL after reporting why, as when LEND_MAX
 * others have one.
 */
struct loan *lend_begin(struct lend *lend, const struct sockaddr_in *to,
			int64_t until);

/*
 * Sends a datagram to the client together with the key of its loan. The key is
 * good for one write. Returns 0, or -1 with errno, as rds_send(); EAGAIN and
 * EINVAL may mean that there is no connection yet.
 */
int lend_send(struct lend *lend, struct loan *loan, const void *buf,
	      size_t length);

/* The loan of this client; NULL: it has none. */
struct loan *lend_find(struct lend *lend, const struct sockaddr_in *to);

/* One that waits for a connection to this client's host; NULL: none does. */
struct loan *lend_waiting(struct lend *lend, const struct sockaddr_in *host);

/* The loan that is to be taken back first; NULL: there is none. */
struct loan *lend_first(struct lend *lend);

/* Takes it back, used or not. Returns 0, or -1 after reporting why. */
int lend_end(struct lend *lend, struct loan *loan);

#endif
