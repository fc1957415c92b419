/*
 * watch.h - the asynchronous events of a device
 *
 * What no completion tells: a port went down, a queue pair broke.
 */
#ifndef WATCH_H
#define WATCH_H

#include <pthread.h>
#include <stdbool.h>

#include <infiniband/verbs.h>

/* Who watches. Zero it before watch_start(). */
struct watch {
	struct ibv_context *verbs; /* borrowed: the open device */
	pthread_t thread;
	int quit_fd; /* ends the thread */
	bool runs;
};

/*
 * Starts a thread that prints each asynchronous event of the open device and
 * acknowledges it. Returns 0, or -1 having said why.
 */
int watch_start(struct watch *watch, struct ibv_context *verbs);

/* Ends the thread, if it runs, and waits for its end. */
void watch_stop(struct watch *watch);

#endif
