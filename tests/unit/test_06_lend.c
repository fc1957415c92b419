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
	bool full; /* there is no room in the send buffer */
} kernel;

static struct sockaddr_in someone(const char *address, int port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};

	assert_int_equal(inet_pton(AF_INET, address, &addr.sin_addr), 1);
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
	kernel.keys++;
	memcpy((void *)(uintptr_t)kernel.loan.cookie_addr, &kernel.keys,
	       sizeof(kernel.keys));
	if (kernel.full) {
		errno = EAGAIN;
		return -1;
	}
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
	return 0;
}

static struct lend lend;
static struct rds rds;

static int setup(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	assert_int_equal(lend_open(&lend, &rds), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lend_close(&lend);
	return 0;
}

/* A loan for 192.0.2.2 and this port, sent. */
static struct loan *lent_to(int port, int ms)
{
	struct sockaddr_in to = someone("192.0.2.2", port);
	struct loan *loan;

	loan = CAPTURED(lend_begin(&lend, &to, wait_deadline(ms)));
	if (loan)
		assert_int_equal(lend_send(&lend, loan, "x", 1), 0);
	return loan;
}

static bool has_loan(int port)
{
	struct sockaddr_in to = someone("192.0.2.2", port);

	return lend_find(&lend, &to) != NULL;
}

/* What the kernel was asked to do, exactly: a write, once, and then no more. */
TEST_AROUND(rights, setup, teardown)
{
	struct loan *loan = lent_to(5000, 1000);

	assert_int_equal(kernel.loan.flags, RDS_RDMA_READWRITE |
						    RDS_RDMA_USE_ONCE |
						    RDS_RDMA_INVALIDATE);
	assert_int_equal(kernel.loan.vec.addr, (uintptr_t)loan->memory);
	assert_int_equal(kernel.loan.vec.bytes, LEND_SIZE);
	assert_int_equal(loan->key, 1);
}

/* The kernel registers whole pages. */
TEST_AROUND(a_page_each, setup, teardown)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct loan *a = lent_to(5000, 1000), *b = lent_to(5001, 1000);

	assert_ptr_not_equal(a, b);
	assert_int_equal((uintptr_t)a->memory % page, 0);
	assert_int_equal((uintptr_t)b->memory % page, 0);
	assert_ptr_not_equal(a->memory, b->memory);
	strcpy(a->memory, "of a");
	assert_non_null(lent_to(5002, 1000));
	assert_string_equal(a->memory, "of a");
	assert_string_equal(b->memory, "");
}

/* What one has written, the next does not find. */
TEST_AROUND(wiped, setup, teardown)
{
	struct sockaddr_in borrower = someone("192.0.2.2", 5000);
	struct loan *a = lent_to(5000, 1000), *b;

	memset(a->memory, 'a', lend.page);
	assert_int_equal(lend_end(&lend, a), 0);
	/* This one's key, and all that were used: no use is still on its way. */
	assert_int_equal(kernel.frees, 2);
	assert_int_equal(kernel.freed[0], 1);
	assert_int_equal(kernel.freed[1], 0);
	/* Nor does a datagram hold it that was not acknowledged. */
	assert_true(ipv4_same(&kernel.cancelled, &borrower));
	b = lent_to(5001, 1000);
	assert_ptr_equal(a, b);
	/* The kernel lends all of the page. */
	for (size_t i = 0; i < lend.page; i++)
		assert_int_equal(b->memory[i], 0);
}

TEST_AROUND(all_lent, setup, teardown)
{
	for (int i = 0; i < LEND_MAX; i++)
		assert_non_null(lent_to(5000 + i, 1000));
	assert_null(lent_to(6000, 1000));
	assert_one_line(said.err, "16 clients have memory of ours already");
	assert_false(has_loan(6000));
	assert_true(has_loan(5000));
	/* Who has one may have another, in its place. */
	assert_non_null(lent_to(5003, 1000));
	assert_int_equal(kernel.freed[0], 4);
	assert_int_equal(lend_end(&lend, &lend.loans[7]), 0);
	assert_non_null(lent_to(6000, 1000));
}

TEST_AROUND(in_order_of_time, setup, teardown)
{
	struct loan *loan;

	assert_null(lend_first(&lend));
	assert_non_null(lent_to(5000, 100000));
	loan = lent_to(5001, 0);
	assert_ptr_equal(lend_first(&lend), loan);
	assert_int_equal(lend_end(&lend, loan), 0);
	assert_int_equal(kernel.freed[0], 2);
	assert_false(has_loan(5001));
	assert_ptr_equal(lend_first(&lend), lent_to(5000, 50000));
}

/* Without a connection there is no key, and what is not sent waits for one. */
TEST_AROUND(waiting, setup, teardown)
{
	struct sockaddr_in to = someone("192.0.2.2", 5000),
			   host = someone("192.0.2.2", 0),
			   other = someone("192.0.2.3", 0);
	struct loan *loan;

	assert_null(lend_waiting(&lend, &host));
	assert_non_null(lent_to(5001, 1000));
	assert_null(lend_waiting(&lend, &host));
	loan = lend_begin(&lend, &to, wait_deadline(1000));
	assert_ptr_equal(lend_waiting(&lend, &host), loan);
	assert_null(lend_waiting(&lend, &other));
	kernel.full = true;
	assert_int_equal(lend_send(&lend, loan, "x", 1), -1);
	assert_int_equal(errno, EAGAIN);
	assert_ptr_equal(lend_waiting(&lend, &host), loan);
	kernel.full = false;
	assert_int_equal(lend_send(&lend, loan, "x", 1), 0);
	assert_null(lend_waiting(&lend, &host));
	/* The key of the try that failed is not left behind. */
	assert_int_equal(kernel.frees, 1);
	assert_int_equal(kernel.freed[0], 2);
	assert_int_equal(loan->key, 3);
}
