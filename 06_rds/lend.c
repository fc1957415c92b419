/*
 * lend.c - memory that a client may write to by RDMA, once
 *
 * Born in 06_rds.
 */
#include "lend.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

int lend_open(struct lend *lend)
{
	long page = sysconf(_SC_PAGESIZE);

	/*
	 * RDS registers whole pages, so what shares a page with the memory
	 * would be lent, too.
	 */
	lend->memory = aligned_alloc(page, page);
	if (!lend->memory)
		return log_fail("no memory to lend");
	memset(lend->memory, 0, page);
	return 0;
}

void lend_close(struct lend *lend)
{
	/* A key that was not used was dropped with the socket. */
	free(lend->memory);
	lend->memory = NULL;
}

int lend_send(struct lend *lend, struct rds *rds, const struct sockaddr_in *to,
	      const void *buf, size_t length)
{
	struct rds_get_mr_args args = {
		.vec.addr = (uintptr_t)lend->memory,
		.vec.bytes = LEND_SIZE,
		/* Writing allowed; and with its use the key is gone. */
		.flags = RDS_RDMA_READWRITE | RDS_RDMA_USE_ONCE |
			 RDS_RDMA_INVALIDATE,
	};
	struct rds_control control = {
		.type = RDS_CMSG_RDMA_MAP,
		.data = &args,
		.size = sizeof(args),
	};

	memset(lend->memory, 0, LEND_SIZE);
	/* The kernel registers, and puts the key into its own header. */
	return rds_send(rds, to, buf, length, &control);
}
