/*
 * watcher.h - a thread that waits for news on a descriptor
 */
#ifndef WATCHER_H
#define WATCHER_H

#include <pthread.h>
#include <stdbool.h>

/* Zero it before watcher_start(). */
struct watcher {
	int fd; /* borrowed */
	int (*news)(void *argument);
	void *argument;
	int quit_fd; /* ends the thread */
	pthread_t thread;
	bool started;
};

/*
 * Starts a thread that calls news with argument whenever fd is readable, until
 * that returns -1. Signals still go to the main thread. Returns 0, or -1 after
 * reporting why. Either way, end with watcher_stop(), while fd is still open.
 */
int watcher_start(struct watcher *watcher, int fd, int (*news)(void *argument),
		  void *argument);

/* Ends the thread, if there is one. */
void watcher_stop(struct watcher *watcher);

#endif
