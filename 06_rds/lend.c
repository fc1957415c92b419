/*
 * lend.c - memory that clients may write to by RDMA, each once
 */
#include "lend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipv4.h"
#include "log.h"

int lend_open(struct lend *lend, struct rds *rds)
{
	size_t page = sysconf(_SC_PAGESIZE);

	lend->rds = rds;
	/*
	 * RDS registers whole pages, so whatever shares a page with a loan
	 * would be lent, too.
	 */
	lend->page = page;
	lend->pages = aligned_alloc(page, LEND_MAX * page);
	if (!lend->pages)
		return log_fail("no memory to lend");
	for (size_t i = 0; i < LEND_MAX; i++)
		lend->loans[i].memory = lend->pages + i * page;
	return 0;
}

void lend_close(struct lend *lend)
{
	free(lend->pages);
	*lend = (struct lend){ 0 };
}

static bool is_lent(const struct loan *loan)
{
	return loan->to.sin_family == AF_INET;
}

struct loan *lend_find(struct lend *lend, const struct sockaddr_in *to)
{
	for (size_t i = 0; i < LEND_MAX; i++)
		if (is_lent(&lend->loans[i]) &&
		    ipv4_same(&lend->loans[i].to, to))
			return &lend->loans[i];
	return NULL;
}

struct loan *lend_waiting(struct lend *lend, const struct sockaddr_in *host)
{
	for (size_t i = 0; i < LEND_MAX; i++) {
		struct loan *loan = &lend->loans[i];

		if (is_lent(loan) && !loan->sent &&
		    loan->to.sin_addr.s_addr == host->sin_addr.s_addr)
			return loan;
	}
	return NULL;
}

struct loan *lend_first(struct lend *lend)
{
	struct loan *first = NULL;

	for (size_t i = 0; i < LEND_MAX; i++)
		if (is_lent(&lend->loans[i]) &&
		    (!first || lend->loans[i].until < first->until))
			first = &lend->loans[i];
	return first;
}

static struct loan *find_free(struct lend *lend)
{
	for (size_t i = 0; i < LEND_MAX; i++)
		if (!is_lent(&lend->loans[i]))
			return &lend->loans[i];
	log_fail(
		"%d clients have memory of ours already; this one must wait until one of them has used it",
		LEND_MAX);
	return NULL;
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

int lend_end(struct lend *lend, struct loan *loan)
{
	struct rds *rds = lend->rds;

	/*
	 * The datagram that carried the key holds the memory, too, until the
	 * other kernel has acknowledged it, which it may never do.
	 */
	if (loan->key && (free_key(rds, loan->key) ||
			  rds_set(rds, RDS_CANCEL_SENT_TO, "RDS_CANCEL_SENT_TO",
				  &loan->to, sizeof(loan->to)) ||
			  free_key(rds, 0)))
		return -1;
	*loan = (struct loan){ .memory = loan->memory };
	return 0;
}

struct loan *lend_begin(struct lend *lend, const struct sockaddr_in *to,
			int64_t until)
{
	struct loan *loan = lend_find(lend, to);

	if (loan && lend_end(lend, loan))
		return NULL;
	if (!loan)
		loan = find_free(lend);
	if (!loan)
		return NULL;
	/* The key is good for the whole page, and so is a borrower's READ. */
	loan->to = *to;
	loan->until = until;
	memset(loan->memory, 0, lend->page);
	return loan;
}

int lend_send(struct lend *lend, struct loan *loan, const void *buf,
	      size_t length)
{
	struct rds_get_mr_args args = {
		.vec.addr = (uintptr_t)loan->memory,
		.vec.bytes = LEND_SIZE,
		.cookie_addr = (uintptr_t)&loan->key,
		/* Writing allowed; and with its use the key is gone. */
		.flags = RDS_RDMA_READWRITE | RDS_RDMA_USE_ONCE |
			 RDS_RDMA_INVALIDATE,
	};
	struct rds_control control = {
		.type = RDS_CMSG_RDMA_MAP,
		.data = &args,
		.size = sizeof(args),
	};

	/* The key of a try that has failed is of no use to anybody. */
	if (loan->key)
		free_key(lend->rds, loan->key);
	loan->key = 0;
	/* The kernel registers, and puts the key into its own header. */
	loan->sent = !rds_send(lend->rds, &loan->to, buf, length, &control);
	return loan->sent ? 0 : -1;
}
