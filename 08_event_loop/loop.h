/*
 * loop.h - the one place where the server sleeps
 *
 * One thread does everything. It sleeps in epoll_wait(2) until one of its
 * descriptors can be read, and then calls what that descriptor is for.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* A descriptor, and what to call when it can be read. */
struct watch {
	int fd;
	int (*ready)(void *owner); /* 0, or -1 to end the loop */
	void *owner;
};

/* Zero it before loop_open(). */
struct loop {
	int epoll_fd;
	struct watch signals;
	int64_t now; /* in ms, the time at which this turn began */
	bool asked; /* to stop, by SIGINT or SIGTERM */
};

/*
 * From now on, SIGINT and SIGTERM only set loop->asked. Returns 0, or -1 after
 * reporting why. Either way, end with loop_close().
 */
int loop_open(struct loop *loop);
void loop_close(struct loop *loop);

/* watch stays the caller's. Returns 0, or -1 after reporting why. */
int loop_add(struct loop *loop, struct watch *watch);

/*
 * What is left of a budget: nothing, if this turn has taken long enough. Whoever is
 * called in a turn asks for it after each thing that it has done.
 */
int loop_left(const struct loop *loop, int budget);

/*
 * One turn: sleeps until there is something to do, at most until that time, in ms,
 * and does it. Returns 0, or -1 after reporting why the loop cannot go on.
 */
int loop_turn(struct loop *loop, int64_t until);

#endif
