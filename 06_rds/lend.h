/*
 * lend.h - memory that a client may write to by RDMA, once
 *
 * Born in 06_rds.
 */
#ifndef LEND_H
#define LEND_H

#include "rds.h"

enum {
	LEND_SIZE = 1024 /* bytes */
};

struct lend {
	char *memory; /* LEND_SIZE bytes in pages of their own */
};

/* Returns 0, or -1 having said why. lend_close() takes it half-made, too. */
int lend_open(struct lend *lend);
void lend_close(struct lend *lend);

/*
 * Sends a datagram to a client with, beside it, the key of the memory. The key
 * is good for one write. Returns 0, or -1 with errno, as rds_send().
 */
int lend_send(struct lend *lend, struct rds *rds, const struct sockaddr_in *to,
	      const void *buf, size_t length);

#endif
