/*
 * test_01_wait.c - the one place where the programs wait
 */
#include "wait.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Waits so long for what never comes. */
static int wait_for_nothing(int ms)
{
	int fd = eventfd(0, 0),
	    ret = wait_readable(fd, -1, -1, wait_deadline(ms)), err = errno;

	close(fd);
	errno = err;
	return ret;
}

enum {
	LOOK, /* a deadline of 0: what is there already? */
	PAST, /* one that is over */
	SOON,
	NEVER
};

/*
 * A deadline that has passed ends it, whatever there is to read: otherwise a peer that
 * never stops sending would never be given up. To stop counts more than anything.
 */
static const struct {
	int readable[3], deadline, ret, err;
} waits[] = {
	{ { 0, 0, 0 }, LOOK, -1, ETIMEDOUT },
	{ { 1, 0, 0 }, LOOK, WAIT_FIRST, 0 },
	{ { 1, 0, 1 }, LOOK, -1, ECANCELED },
	{ { 0, 0, 0 }, PAST, -1, ETIMEDOUT },
	{ { 1, 1, 0 }, PAST, -1, ETIMEDOUT },
	{ { 1, 0, 1 }, PAST, -1, ECANCELED },
	{ { 0, 1, 0 }, SOON, WAIT_SECOND, 0 },
	{ { 1, 1, 0 }, SOON, WAIT_FIRST | WAIT_SECOND, 0 },
	{ { 1, 0, 1 }, SOON, -1, ECANCELED },
	{ { 1, 0, 0 }, NEVER, WAIT_FIRST, 0 },
	{ { 0, 0, 1 }, NEVER, -1, ECANCELED },
};

TEST(waits)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		const int64_t deadlines[] = { [LOOK] = 0,
					      [PAST] = wait_deadline(0) - 10000,
					      [SOON] = wait_deadline(20000),
					      [NEVER] = wait_deadline(-1) };
		int fds[3];

		for (int j = 0; j < 3; j++)
			fds[j] = eventfd(waits[i].readable[j], 0);
		assert_int_equal(wait_readable(fds[0], fds[1], fds[2],
					       deadlines[waits[i].deadline]),
				 waits[i].ret);
		if (waits[i].ret < 0)
			assert_int_equal(errno, waits[i].err);
		/* What is not waited for is not looked at. */
		if (waits[i].ret == WAIT_SECOND)
			assert_int_equal(wait_readable(-1, fds[1], -1, 0),
					 WAIT_SECOND);
		for (int j = 0; j < 3; j++)
			close(fds[j]);
	}
}

static void ignore_alarm(int signal)
{
	(void)signal;
}

/* A signal that is handled does not end the wait, nor prolong it. */
TEST(interrupted)
{
	struct sigaction action = { .sa_handler = ignore_alarm };
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
	int64_t before = now();
	int ret, err;

	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
	ret = wait_for_nothing(60);
	err = errno;
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(ret, -1);
	assert_int_equal(err, ETIMEDOUT);
	assert_in_range(now() - before, 59, 30000);
}
