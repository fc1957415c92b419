/*
 * test_06_lend.c - what the server of chapter 06 lends: to whom, how, how long
 */
#include "lend.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipv4.h"
#include "test.h"
#include "wait.h"

/* What the kernel was asked: the last loan, keys given, freed and cancelled. */
static struct {
	struct rds_get_mr_args loan;
	rds_rdma_cookie_t keys,
		freed[64]; /* 1, 2, ...; 0: all that were used */
	unsigned int frees;
	struct sockaddr_in cancelled;
	int err; /* what sendmsg(2) fails with; 0: it does not */
	bool full; /* RDS_FREE_MR fails, and not because the key was used */
} kernel;

static struct sockaddr_in client(int port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};

	assert_int_equal(inet_pton(AF_INET, "192.0.2.2", &addr.sin_addr), 1);
	return addr;
}

/* The key goes where the program wants it. */
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	const struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);

	(void)fd;
	(void)flags;
	assert_true(cmsg && cmsg->cmsg_type == RDS_CMSG_RDMA_MAP);
	memcpy(&kernel.loan, CMSG_DATA(cmsg), sizeof(kernel.loan));
	if (kernel.err) {
		errno = kernel.err;
		return -1;
	}
	kernel.keys++;
	memcpy((void *)(uintptr_t)kernel.loan.cookie_addr, &kernel.keys,
	       sizeof(kernel.keys));
	return msg->msg_iov->iov_len;
}

int setsockopt(int fd, int level, int option, const void *value,
	       socklen_t length)
{
	struct rds_free_mr_args args;

	(void)fd;
	assert_int_equal(level, SOL_RDS);
	if (option == RDS_CANCEL_SENT_TO) {
		memcpy(&kernel.cancelled, value, sizeof(kernel.cancelled));
		return 0;
	}
	assert_int_equal(option, RDS_FREE_MR);
	assert_int_equal(length, sizeof(args));
	memcpy(&args, value, sizeof(args));
	assert_int_equal(args.flags, RDS_RDMA_INVALIDATE);
	kernel.freed[kernel.frees++ % 64] = args.cookie;
	/* EINVAL: it was used. */
	errno = kernel.full ? ENOMEM : EINVAL;
	return -1;
}

static struct lend lend;
static struct rds rds;
static struct dgram out[2];

static int setup(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	memset(&lend, 0, sizeof(lend));
	rds = (struct rds){ .out = out, .patience.timeout_ms = 1000 };
	assert_int_equal(lend_open(&lend, &rds), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lend_close(&lend);
	return 0;
}

static int lend_to(int port)
{
	struct sockaddr_in to = client(port);

	return CAPTURED(lend_begin(&lend, &to));
}

static bool has_it(int port)
{
	struct sockaddr_in to = client(port);

	return ipv4_same(&lend.to, &to);
}

/* What the kernel was asked to do, exactly: a write, once, and then no more. */
TEST_AROUND(rights, setup, teardown)
{
	int64_t now = wait_deadline(0);

	assert_int_equal(lend.until, INT64_MAX);
	assert_int_equal(lend_to(5000), 0);
	assert_int_equal(kernel.loan.flags, RDS_RDMA_READWRITE |
						    RDS_RDMA_USE_ONCE |
						    RDS_RDMA_INVALIDATE);
	assert_int_equal(kernel.loan.vec.addr, (uintptr_t)lend.memory);
	assert_int_equal(kernel.loan.vec.bytes, LEND_SIZE);
	/* The kernel registers whole pages. */
	assert_int_equal((uintptr_t)lend.memory % sysconf(_SC_PAGESIZE), 0);
	assert_int_equal(lend.key, 1);
	assert_true(has_it(5000));
	assert_true(lend.until >= now + 1000 && lend.until < INT64_MAX);
}

/* What one has written, the next does not find. */
TEST_AROUND(wiped, setup, teardown)
{
	struct sockaddr_in borrower = client(5000);
	long page = sysconf(_SC_PAGESIZE);

	assert_int_equal(lend_to(5000), 0);
	memset(lend.memory, 'a', page);
	assert_int_equal(lend_end(&lend), 0);
	assert_int_equal(lend.key, 0);
	assert_false(has_it(5000));
	assert_int_equal(lend.until, INT64_MAX);
	/* This one's key, and all that were used: no use is still on its way. */
	assert_int_equal(kernel.frees, 2);
	assert_int_equal(kernel.freed[0], 1);
	assert_int_equal(kernel.freed[1], 0);
	/* Nor does a datagram hold it that was not acknowledged. */
	assert_true(ipv4_same(&kernel.cancelled, &borrower));
	assert_int_equal(lend_to(5001), 0);
	/* The kernel lends all of the page. */
	for (long i = 0; i < page; i++)
		assert_int_equal(lend.memory[i], 0);
}

TEST_AROUND(one_at_a_time, setup, teardown)
{
	assert_int_equal(lend_to(5000), 0);
	assert_int_equal(lend_to(5001), -1);
	assert_one_line(said.err, "another client has our memory");
	assert_int_equal(kernel.keys, 1);
	assert_true(has_it(5000));
	/* Who has it may have it anew. */
	assert_int_equal(lend_to(5000), 0);
	assert_int_equal(kernel.freed[0], 1);
	assert_int_equal(lend.key, 2);
	assert_int_equal(lend_end(&lend), 0);
	assert_int_equal(lend_to(5001), 0);
}

/* Without a connection there is no key, and nobody has it. */
TEST_AROUND(not_sent, setup, teardown)
{
	kernel.err = EAGAIN;
	assert_int_equal(lend_to(5000), -1);
	assert_one_line(said.err, "no connection over ib yet");
	assert_int_equal(kernel.frees, 0);
	assert_false(has_it(5000));
	assert_int_equal(lend.until, INT64_MAX);
	kernel.err = 0;
	assert_int_equal(lend_to(5001), 0);
}

/* If it cannot be taken back, nobody else gets it, and that is said once. */
TEST_AROUND(kept, setup, teardown)
{
	assert_int_equal(lend_to(5000), 0);
	kernel.full = true;
	assert_int_equal(CAPTURED(lend_end(&lend)), -1);
	assert_one_line(said.err, "cannot be taken back");
	assert_int_equal(lend.until, INT64_MAX);
	assert_int_equal(lend_to(5001), -1);
	assert_true(has_it(5000));
}
