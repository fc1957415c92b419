/*
 * loop.c - the one place where the program sleeps
 */
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "log.h"
#include "wait.h"

/* How many descriptors one turn serves at most. */
#define EVENTS 8

/* How long one turn may take, in ms, however slow the machine is. */
#define TURN_MS 20

static int on_signal(void *owner)
{
	struct signalfd_siginfo info;
	struct loop *loop = owner;

	if (read(loop->signals.fd, &info, sizeof(info)) == sizeof(info))
		loop->asked = true;
	return 0;
}

int loop_add(struct loop *loop, struct watch *watch)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event))
		return log_fail_errno("epoll_ctl", errno, "descriptor %d",
				      watch->fd);
	return 0;
}

int loop_open(struct loop *loop, int (*on_time)(void *owner), void *owner)
{
	loop->now = wait_deadline(0);
	loop->alarm = INT64_MAX;
	loop->timer = (struct watch){ -1, on_time, owner };
	loop->signals = (struct watch){ -1, on_signal, loop };
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return log_fail_errno("epoll_create1", errno,
				      "see \"ulimit -n\"");
	if (wait_for_signals(&loop->signals.fd))
		return -1;
	loop->timer.fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (loop->timer.fd < 0)
		return log_fail_errno("timerfd_create", errno,
				      "see \"ulimit -n\"");
	return loop_add(loop, &loop->signals) || loop_add(loop, &loop->timer) ?
		       -1 :
		       0;
}

void loop_close(struct loop *loop)
{
	const int fds[] = { loop->timer.fd, loop->signals.fd, loop->epoll_fd };

	for (int i = 0; i < 3; i++)
		if (fds[i] > 0)
			close(fds[i]);
	*loop = (struct loop){ 0 };
}

/* when: INT64_MAX stops the timer. */
static int set_timer(struct loop *loop, int64_t when)
{
	struct itimerspec at = { 0 };

	/* A time of zero would stop the timer, too. */
	if (when != INT64_MAX) {
		at.it_value.tv_sec = when / 1000;
		at.it_value.tv_nsec = when % 1000 * 1000000 + 1;
	}
	if (timerfd_settime(loop->timer.fd, TFD_TIMER_ABSTIME, &at, NULL))
		return log_fail_errno("timerfd_settime", errno,
				      "no deadline would be kept");
	loop->alarm = when;
	return 0;
}

void loop_alarm(struct loop *loop, int64_t when)
{
	if (when < loop->alarm && set_timer(loop, when))
		loop->broken = true;
}

int loop_left(const struct loop *loop, int budget)
{
	return wait_deadline(0) < loop->now + TURN_MS ? budget : 0;
}

int loop_turn(struct loop *loop, bool may_sleep)
{
	struct epoll_event events[EVENTS];
	int n;

	if (loop->broken)
		return -1;
	do {
		n = epoll_wait(loop->epoll_fd, events, EVENTS,
			       may_sleep ? -1 : 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return log_fail_errno("epoll_wait", errno, "the loop ends");
	loop->now = wait_deadline(0);
	for (int i = 0; i < n; i++) {
		struct watch *watch = events[i].data.ptr;

		/* It fires once. Whoever needs it again asks for it again. */
		if (watch == &loop->timer && set_timer(loop, INT64_MAX))
			return -1;
		if (watch->ready(watch->owner))
			return -1;
	}
	return 0;
}
