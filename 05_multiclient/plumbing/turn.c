/*
 * turn.c - who may compute now: few at a time, first come, first served
 */
#include "turn.h"

#include <errno.h>
#include <unistd.h>

#include "wait.h"

void turns_open(struct turns *turns)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	*turns = (struct turns){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.places = processors > 0 ? 2 * processors : 2,
	};
}

/* Calls the first in line, and takes it out. */
static void call_first(struct turns *turns)
{
	struct turn *turn = turns->line;

	turns->line = turn->next;
	turn->has_place = true;
	pthread_cond_signal(&turn->called);
}

/* In line, before all who came later. */
static void stand_in_line(struct turn *turn)
{
	struct turn **at = &turn->turns->line;

	while (*at && (*at)->number < turn->number)
		at = &(*at)->next;
	turn->next = *at;
	*at = turn;
	turn->has_place = false;
	turn->called = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	while (!turn->has_place)
		pthread_cond_wait(&turn->called, &turn->turns->lock);
}

int turn_take(struct turn *turn, int64_t *deadline)
{
	struct turns *turns = turn->turns;
	int64_t begin = wait_deadline(0);
	bool closed;

	pthread_mutex_lock(&turns->lock);
	if (turns->places)
		turns->places--;
	else if (!turns->closed)
		stand_in_line(turn);
	closed = turns->closed;
	pthread_mutex_unlock(&turns->lock);
	*deadline += wait_deadline(0) - begin;
	if (!closed)
		return 0;
	errno = ECANCELED;
	return -1;
}

void turn_leave(struct turn *turn)
{
	struct turns *turns = turn->turns;

	pthread_mutex_lock(&turns->lock);
	/*
	 * Hand it on instead of freeing it, so that nobody can come in between.
	 */
	if (turns->line)
		call_first(turns);
	else
		turns->places++;
	pthread_mutex_unlock(&turns->lock);
}

void turns_close(struct turns *turns)
{
	pthread_mutex_lock(&turns->lock);
	turns->closed = true;
	while (turns->line)
		call_first(turns);
	pthread_mutex_unlock(&turns->lock);
}
