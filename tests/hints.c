/*
 * hints.c - a bond that fails over again and again, as the programs see it into which
 * this is preloaded: HINTS says every how many milliseconds the CM reports ADDR_CHANGE,
 * from the end of the connection's making on. rxe itself (6.1) loses its connections then.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

static struct rdma_cm_event hint = { .event = RDMA_CM_EVENT_ADDR_CHANGE };
static int fd = -1; /* of the connection's channel; -1: it is not made yet */
static long long due; /* in ms: when the next one comes */

/* A test that is set up wrongly must not look like one that passed. */
static void *find(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function || !getenv("HINTS")) {
		fprintf(stderr, "hints: no %s, or no HINTS\n", name);
		_exit(97);
	}
	return function;
}

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

int rdma_get_cm_event(struct rdma_event_channel *channel,
		      struct rdma_cm_event **event)
{
	int (*real)(struct rdma_event_channel *, struct rdma_cm_event **) =
		find("rdma_get_cm_event");
	int ret;

	if (channel->fd == fd && now_ms() >= due) {
		due = now_ms() + atoi(getenv("HINTS"));
		*event = &hint;
		return 0;
	}
	ret = real(channel, event);
	if (!ret && (*event)->event == RDMA_CM_EVENT_ESTABLISHED) {
		fd = channel->fd;
		due = now_ms() + atoi(getenv("HINTS"));
	} else if (!ret && (*event)->event == RDMA_CM_EVENT_DISCONNECTED) {
		fd = -1;
	}
	return ret;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	int (*real)(struct rdma_cm_event *) = find("rdma_ack_cm_event");

	return event == &hint ? 0 : real(event);
}

/* The channel can be read when the next one is due, too. */
int poll(struct pollfd *fds, nfds_t count, int ms)
{
	int (*real)(struct pollfd *, nfds_t, int) = find("poll");
	struct pollfd *watched = NULL;
	long long left = due - now_ms();
	int n;

	for (nfds_t i = 0; i < count; i++)
		if (fd >= 0 && fds[i].fd == fd)
			watched = &fds[i];
	if (!watched || (ms >= 0 && ms < left))
		return real(fds, count, ms);
	n = real(fds, count, left > 0 ? left : 0);
	if (n == 0) {
		watched->revents = POLLIN;
		n = 1;
	}
	return n;
}
