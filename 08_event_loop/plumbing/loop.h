/*
 * loop.h - the one place where the program sleeps
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
	struct watch timer, signals;
	int64_t now; /* in ms, the time at which this turn began */
	int64_t alarm; /* when the timer fires; INT64_MAX: never */
	bool asked; /* to stop, by SIGINT or SIGTERM */
	bool broken; /* the timer could not be set: the next turn fails */
};

/*
 * on_time: what to call with owner when an alarm is due. From now on, SIGINT and
 * SIGTERM only set loop->asked. Returns 0, or -1 after reporting why. Either way,
 * end with loop_close().
 */
int loop_open(struct loop *loop, int (*on_time)(void *owner), void *owner);
void loop_close(struct loop *loop);

/* watch stays the caller's. Returns 0, or -1 after reporting why. */
int loop_add(struct loop *loop, struct watch *watch);

/*
 * Has the timer fire then, if it would not fire before. A failure is reported, and
 * ends the next turn.
 */
void loop_alarm(struct loop *loop, int64_t when);

/*
 * What is left of a budget: nothing, if this turn has taken long enough. Whoever is
 * called in a turn asks for it after each thing that it has done.
 */
int loop_left(const struct loop *loop, int budget);

/*
 * One turn: sleeps, if it may, until there is something to do, and does it.
 * Returns 0, or -1 after reporting why the loop cannot go on.
 */
int loop_turn(struct loop *loop, bool may_sleep);

#endif
