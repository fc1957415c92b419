/*
 * lend.c - memory that a client may write to by RDMA, once
 */
#include "lend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hints.h"
#include "ipv4.h"
#include "log.h"

int lend_open(struct lend *lend, struct rds *rds)
{
	size_t page = sysconf(_SC_PAGESIZE);

	lend->rds = rds;
	lend->until = INT64_MAX;
	/* RDS registers whole pages: what shares a page with it is lent, too. */
	lend->memory = aligned_alloc(page, page);
	return lend->memory ? 0 : log_fail("no memory to lend");
}

void lend_close(struct lend *lend)
{
	free(lend->memory);
	lend->memory = NULL;
}

/*
 * Frees a key, or with 0 all keys that were used. The kernel frees those by
 * itself, but only some milliseconds after it has told us of the use, and the
 * key is valid until then. After this call it is not.
 */
static int free_key(struct rds *rds, rds_rdma_cookie_t key)
{
	struct rds_free_mr_args args = {
		.cookie = key,
		.flags = RDS_RDMA_INVALIDATE,
	};

	/* EINVAL: there is no such key, so it was used. */
	if (setsockopt(rds->fd, SOL_RDS, RDS_FREE_MR, &args, sizeof(args)) &&
	    errno != EINVAL)
		return log_fail_errno("RDS_FREE_MR", errno,
				      "a page cannot be taken back");
	return 0;
}

int lend_end(struct lend *lend)
{
	struct rds *rds = lend->rds;

	/* If this fails, it says so: do not repeat that in a loop. */
	lend->until = INT64_MAX;
	/*
	 * The datagram that carried the key holds the memory, too, until the
	 * other kernel has acknowledged it, which it may never do.
	 */
	if (lend->key && (free_key(rds, lend->key) ||
			  rds_set(rds, RDS_CANCEL_SENT_TO, "RDS_CANCEL_SENT_TO",
				  &lend->to, sizeof(lend->to)) ||
			  free_key(rds, 0)))
		return -1;
	lend->key = 0;
	lend->to = (struct sockaddr_in){ 0 };
	return 0;
}

/* The kernel registers the memory, and puts the key into its own header. */
static int send_key(struct lend *lend)
{
	struct rds_get_mr_args args = {
		.vec.addr = (uintptr_t)lend->memory,
		.vec.bytes = LEND_SIZE,
		.cookie_addr = (uintptr_t)&lend->key,
		/* Writing allowed; and with its use the key is gone. */
		.flags = RDS_RDMA_READWRITE | RDS_RDMA_USE_ONCE |
			 RDS_RDMA_INVALIDATE,
	};
	struct rds_control control = {
		.type = RDS_CMSG_RDMA_MAP,
		.data = &args,
		.size = sizeof(args),
	};
	struct rds *rds = lend->rds;
	size_t length = dgram_fill(rds->out, DGRAM_LENT, 0, "here you are");

	if (rds_try(rds, &lend->to, rds->out, length, &control))
		return explain_send(&lend->to, length, errno);
	return 0;
}

int lend_begin(struct lend *lend, const struct sockaddr_in *to)
{
	/* The client that has it may have it anew, with another key. */
	if (ipv4_same(&lend->to, to) && lend_end(lend))
		return -1;
	if (lend->to.sin_port)
		return log_fail(
			"another client has our memory; this one must wait until that has used it");
	/* The key is good for the whole page, and so is a borrower's READ. */
	memset(lend->memory, 0, sysconf(_SC_PAGESIZE));
	lend->to = *to;
	lend->until = rds_deadline(lend->rds);
	if (!send_key(lend))
		return 0;
	lend_end(lend);
	return -1;
}
