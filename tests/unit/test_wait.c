/*
 * test_wait.c - the one place where the programs wait
 */
#include "wait.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

/* Three pipes to wait for; [0] is read from, [1] written to. */
struct pipes {
	int first[2], second[2], stop[2];
};

static int setup(void **state)
{
	struct pipes *pipes = malloc(sizeof(*pipes));

	*state = pipes;
	return !pipes || pipe(pipes->first) || pipe(pipes->second) ||
	       pipe(pipes->stop);
}

static int teardown(void **state)
{
	struct pipes *pipes = *state;

	for (int i = 0; i < 2; i++) {
		close(pipes->first[i]);
		close(pipes->second[i]);
		close(pipes->stop[i]);
	}
	free(pipes);
	return 0;
}

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void make_readable(const int pipe[2])
{
	assert_int_equal(write(pipe[1], "x", 1), 1);
}

static int wait_for_pipes(const struct pipes *pipes, int ms)
{
	return wait_readable(pipes->first[0], pipes->second[0], pipes->stop[0],
			     wait_deadline(ms));
}

TEST_AROUND(timeout, setup, teardown)
{
	int64_t before = now();

	errno = 0;
	assert_int_equal(wait_for_pipes(*state, 60), -1);
	assert_int_equal(errno, ETIMEDOUT);
	/* Not early; the upper bound only catches a wrong unit. */
	assert_in_range(now() - before, 59, 30000);
}

/*
 * A deadline that has passed ends it, whatever there is to read: otherwise a
 * peer that never stops sending would never be given up.
 */
TEST_AROUND(past_deadline, setup, teardown)
{
	struct pipes *pipes = *state;
	int64_t past = wait_deadline(0) - 10000;

	assert_int_equal(wait_readable(pipes->first[0], -1, -1, past), -1);
	assert_int_equal(errno, ETIMEDOUT);
	make_readable(pipes->first);
	assert_int_equal(wait_readable(pipes->first[0], -1, -1, past), -1);
	assert_int_equal(errno, ETIMEDOUT);
	/* To stop counts even then. */
	make_readable(pipes->stop);
	assert_int_equal(
		wait_readable(pipes->first[0], -1, pipes->stop[0], past), -1);
	assert_int_equal(errno, ECANCELED);
}

/* 0 is no deadline that is over, but a look at what is there. */
TEST_AROUND(look, setup, teardown)
{
	struct pipes *pipes = *state;

	assert_int_equal(wait_readable(pipes->first[0], -1, -1, 0), -1);
	assert_int_equal(errno, ETIMEDOUT);
	make_readable(pipes->first);
	assert_int_equal(wait_readable(pipes->first[0], -1, -1, 0), WAIT_FIRST);
	make_readable(pipes->stop);
	assert_int_equal(wait_readable(pipes->first[0], -1, pipes->stop[0], 0),
			 -1);
	assert_int_equal(errno, ECANCELED);
}

TEST_AROUND(first_and_second, setup, teardown)
{
	struct pipes *pipes = *state;

	make_readable(pipes->second);
	assert_int_equal(wait_for_pipes(pipes, 20000), WAIT_SECOND);
	make_readable(pipes->first);
	assert_int_equal(wait_for_pipes(pipes, 20000),
			 WAIT_FIRST | WAIT_SECOND);
	assert_int_equal(wait_readable(pipes->first[0], -1, -1,
				       wait_deadline(-1)),
			 WAIT_FIRST);
	assert_int_equal(wait_readable(-1, pipes->second[0], -1,
				       wait_deadline(-1)),
			 WAIT_SECOND);
}

/* To stop counts more than any news. */
TEST_AROUND(stop, setup, teardown)
{
	struct pipes *pipes = *state;

	make_readable(pipes->first);
	make_readable(pipes->stop);
	assert_int_equal(wait_for_pipes(pipes, 20000), -1);
	assert_int_equal(errno, ECANCELED);
	assert_int_equal(wait_for_pipes(pipes, -1), -1);
	assert_int_equal(errno, ECANCELED);
}

static void ignore_alarm(int signal)
{
	(void)signal;
}

/* A signal that is handled does not end the wait, nor prolong it. */
TEST_AROUND(interrupted, setup, teardown)
{
	struct sigaction action = { .sa_handler = ignore_alarm };
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
	int64_t before = now();
	int ret, err;

	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
	ret = wait_for_pipes(*state, 60);
	err = errno;
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(ret, -1);
	assert_int_equal(err, ETIMEDOUT);
	assert_in_range(now() - before, 59, 30000);
}
