/*
 * test_06_lend.c - what the kernel is asked for when memory is lent and taken back, where
 * it shows in no run: for some milliseconds, a key that was used is still good
 */
#include "lend.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipv4.h"
#include "test.h"

#define KEY 7

/* The keys that were to be freed (0: all that were used), and whom a datagram goes to. */
static rds_rdma_cookie_t freed[3];
static unsigned int frees;
static struct sockaddr_in cancelled;
static bool fails;

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	struct rds_get_mr_args loan;

	(void)fd;
	(void)flags;
	memcpy(&loan, CMSG_DATA(CMSG_FIRSTHDR(msg)), sizeof(loan));
	/* The kernel registers whole pages. */
	assert_int_equal(loan.vec.addr % sysconf(_SC_PAGESIZE), 0);
	*(rds_rdma_cookie_t *)(uintptr_t)loan.cookie_addr = KEY;
	return msg->msg_iov->iov_len;
}

int setsockopt(int fd, int level, int option, const void *value,
	       socklen_t length)
{
	struct rds_free_mr_args args;

	(void)fd;
	assert_int_equal(level, SOL_RDS);
	if (option == RDS_CANCEL_SENT_TO) {
		memcpy(&cancelled, value, length);
		return 0;
	}
	assert_int_equal(option, RDS_FREE_MR);
	memcpy(&args, value, length);
	assert_int_equal(args.flags, RDS_RDMA_INVALIDATE);
	assert_true(frees < 3);
	freed[frees++] = args.cookie;
	/* EINVAL: it was used. */
	errno = fails ? ENOMEM : EINVAL;
	return -1;
}

static struct dgram out[2];
static struct rds rds = { .out = out, .patience.timeout_ms = 1000 };
static struct lend lend;
static struct sockaddr_in one = { .sin_family = AF_INET, .sin_port = 1 };
static struct sockaddr_in other = { .sin_family = AF_INET, .sin_port = 2 };

/* This one's key, what else holds the memory, and all keys that were used. */
TEST(taken_back)
{
	assert_int_equal(lend_open(&lend, &rds), 0);
	assert_int_equal(lend_begin(&lend, &one), 0);
	assert_int_equal(lend.key, KEY);
	assert_int_equal(lend_end(&lend), 0);
	assert_int_equal(frees, 2);
	assert_int_equal(freed[0], KEY);
	assert_int_equal(freed[1], 0);
	assert_true(ipv4_same(&cancelled, &one));
}

/* If it cannot be taken back, nobody else gets it, and that is said once. */
TEST(kept)
{
	assert_int_equal(lend_begin(&lend, &one), 0);
	fails = true;
	assert_int_equal(CAPTURED(lend_end(&lend)), -1);
	assert_one_line(said.err, "cannot be taken back");
	assert_int_equal(lend.until, INT64_MAX);
	assert_int_equal(CAPTURED(lend_begin(&lend, &other)), -1);
	assert_one_line(said.err, "another client has our memory");
	lend_close(&lend);
}
