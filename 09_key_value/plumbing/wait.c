/*
 * wait.c - the one place where the programs wait
 */
#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <time.h>

#include "log.h"

/* The monotonic clock: setting the time of day must not end a wait. */
static int64_t now_ms(void)
{
	struct timespec now;

	/* Fails only for an unknown clock or a bad address, so not here. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t wait_deadline(int ms)
{
	return ms < 0 ? INT64_MAX : now_ms() + ms;
}

/* What is left until the deadline, as poll(2) wants it. */
static int remaining_ms(int64_t deadline)
{
	int64_t left;

	if (deadline == INT64_MAX)
		return -1;
	left = deadline - now_ms();
	return left > 0 ? (int)left : 0;
}

/* Waits for one of three; news of the first ends all waiting. */
static int wait_poll(struct pollfd fds[3], int64_t deadline)
{
	/* A peer that always has news must not keep us past the deadline. */
	bool late = deadline && now_ms() >= deadline;
	int n;

	do {
		n = poll(fds, 3, remaining_ms(deadline));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if (fds[0].revents) {
		errno = ECANCELED;
		return -1;
	}
	if (n == 0 || late) {
		errno = ETIMEDOUT;
		return -1;
	}
	return (fds[1].revents ? WAIT_FIRST : 0) |
	       (fds[2].revents ? WAIT_SECOND : 0);
}

int wait_readable(int first, int second, int stop_fd, int64_t deadline)
{
	/* poll(2) ignores entries whose descriptor is negative. */
	struct pollfd fds[] = {
		{ .fd = stop_fd, .events = POLLIN },
		{ .fd = first, .events = POLLIN },
		{ .fd = second, .events = POLLIN },
	};

	return wait_poll(fds, deadline);
}

int wait_writable(int fd, int stop_fd, int64_t deadline)
{
	struct pollfd fds[] = {
		{ .fd = stop_fd, .events = POLLIN },
		{ .fd = fd, .events = POLLOUT },
		{ .fd = -1 },
	};

	return wait_poll(fds, deadline) < 0 ? -1 : 0;
}

int wait_fail(const char *what, int err, const struct patience *patience)
{
	if (err == ETIMEDOUT)
		return log_fail(
			"%s: nothing came within %g s; is the peer alive, and is -t long enough for it [docs/troubleshooting.md#silent]",
			what, patience->timeout_ms / 1000.0);
	if (err == ECANCELED)
		return log_fail(
			"%s: given up, since this program was asked to stop",
			what);
	return log_fail_errno("poll", err, "while waiting for: %s", what);
}

int wait_for_signals(int *stop_fd)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	/* A blocked signal stays pending until the descriptor is read. */
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return log_fail_errno("sigprocmask", errno, "cannot go on");
	*stop_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*stop_fd < 0)
		return log_fail_errno(
			"signalfd", errno,
			"see \"ulimit -n\" for the number of descriptors allowed");
	return 0;
}

int wait_nonblocking(int fd, const char *call)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return log_fail_errno(
			"fcntl", errno,
			"cannot make the descriptor of %s non-blocking", call);
	return 0;
}
