/*
 * watcher.c - a thread that waits for news on a descriptor
 */
#include "watcher.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "log.h"
#include "wait.h"

static void *watch(void *argument)
{
	struct watcher *watcher = argument;

	while (wait_readable(watcher->fd, -1, watcher->quit_fd,
			     wait_deadline(-1)) > 0)
		if (watcher->news(watcher->argument))
			return NULL;
	if (errno != ECANCELED)
		log_fail_errno("poll", errno, "no more events will be named");
	return NULL;
}

int watcher_start(struct watcher *watcher, int fd, int (*news)(void *argument),
		  void *argument)
{
	sigset_t all, old;
	int err;

	watcher->fd = fd;
	watcher->news = news;
	watcher->argument = argument;
	watcher->quit_fd = eventfd(0, EFD_CLOEXEC);
	if (watcher->quit_fd < 0)
		return log_fail_errno("eventfd", errno, "see \"ulimit -n\"");
	/* Signals are for the main thread: the new one inherits this mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&watcher->thread, NULL, watch, watcher);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		close(watcher->quit_fd);
		return log_fail_errno("pthread_create", err,
				      "see \"ulimit -u\"");
	}
	watcher->started = true;
	return 0;
}

void watcher_stop(struct watcher *watcher)
{
	if (!watcher->started)
		return;
	/* The first write to an eventfd of our own cannot fail or block. */
	eventfd_write(watcher->quit_fd, 1);
	pthread_join(watcher->thread, NULL);
	close(watcher->quit_fd);
	watcher->started = false;
}
