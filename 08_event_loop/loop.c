/*
 * loop.c - the one place where the server sleeps
 */
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "explain.h"
#include "wait.h"

/* How many descriptors one turn serves at most. */
#define EVENTS 8

/* How long one turn may take, in ms, however slow the machine is. */
#define TURN_MS 20

static int on_signal(void *owner)
{
	struct signalfd_siginfo info;
	struct loop *loop = owner;

	if (read(loop->signals.fd, &info, sizeof(info)) != sizeof(info))
		return explain_call("read", errno);
	loop->asked = true;
	return 0;
}

int loop_add(struct loop *loop, struct watch *watch)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event))
		return explain_call("epoll_ctl", errno);
	return 0;
}

int loop_open(struct loop *loop)
{
	loop->now = wait_deadline(0);
	loop->signals = (struct watch){ -1, on_signal, loop };
	if (wait_for_signals(&loop->signals.fd))
		return -1;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return explain_call("epoll_create1", errno);
	return loop_add(loop, &loop->signals);
}

void loop_close(struct loop *loop)
{
	if (loop->signals.fd > 0)
		close(loop->signals.fd);
	if (loop->epoll_fd > 0)
		close(loop->epoll_fd);
	*loop = (struct loop){ 0 };
}

int loop_left(const struct loop *loop, int budget)
{
	return wait_deadline(0) < loop->now + TURN_MS ? budget : 0;
}

/* What is left until then, as epoll_wait(2) wants it. */
static int remaining_ms(int64_t until)
{
	int64_t left = until - wait_deadline(0);

	if (until == INT64_MAX)
		return -1;
	return left > 0 ? (int)left : 0;
}

int loop_turn(struct loop *loop, int64_t until)
{
	struct epoll_event events[EVENTS];
	int n;

	do {
		n = epoll_wait(loop->epoll_fd, events, EVENTS,
			       remaining_ms(until));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return explain_call("epoll_wait", errno);
	loop->now = wait_deadline(0);
	for (int i = 0; i < n; i++) {
		struct watch *watch = events[i].data.ptr;

		if (watch->ready(watch->owner))
			return -1;
	}
	return 0;
}
