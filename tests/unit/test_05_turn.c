/*
 * test_05_turn.c - few compute at a time, and who came first is first
 */
#include "turn.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "wait.h"

#define THREADS 8
#define ROUNDS 500
#define PLACES 3

static struct turns turns;
static atomic_int computing, most;

static void *compute(void *argument)
{
	struct turn *turn = argument;
	int64_t deadline = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int now, seen;

		if (turn_take(turn, &deadline))
			return argument;
		now = ++computing;
		seen = most;
		while (now > seen &&
		       !atomic_compare_exchange_weak(&most, &seen, now))
			;
		sched_yield();
		computing--;
		turn_leave(turn);
	}
	return NULL;
}

/* Never more than there are places, and all of them in the end. */
TEST(places)
{
	struct turn turn[THREADS] = { { 0 } };
	pthread_t threads[THREADS];
	void *failed;

	turns_open(&turns);
	assert_int_equal(turns.places, 2 * sysconf(_SC_NPROCESSORS_ONLN));
	turns.places = PLACES;
	for (int i = 0; i < THREADS; i++) {
		turn[i] = (struct turn){ .turns = &turns, .number = i };
		assert_int_equal(pthread_create(&threads[i], NULL, compute,
						&turn[i]),
				 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_in_range(most, 1, PLACES);
	assert_int_equal(turns.places, PLACES);
	assert_null(turns.line);
}

static unsigned int in_line(void)
{
	unsigned int count = 0;

	pthread_mutex_lock(&turns.lock);
	for (struct turn *turn = turns.line; turn; turn = turn->next)
		count++;
	pthread_mutex_unlock(&turns.lock);
	return count;
}

static atomic_uint order[THREADS], done;
static atomic_int refused;
static atomic_int_least64_t later[THREADS];

static void *stand(void *argument)
{
	struct turn *turn = argument;
	int64_t deadline = 1000;

	if (turn_take(turn, &deadline)) {
		refused += errno == ECANCELED;
		return NULL;
	}
	later[turn->number] = deadline - 1000;
	order[done++] = turn->number;
	turn_leave(turn);
	return NULL;
}

/* One place, which is taken; threads stand in line, the last one first. */
static void queue(struct turn turn[THREADS], pthread_t threads[THREADS])
{
	turns_open(&turns);
	turns.places = 1;
	done = 0;
	for (int i = THREADS; i--;) {
		int64_t deadline = 0;

		turn[i] = (struct turn){ .turns = &turns, .number = i };
		if (i == THREADS - 1) {
			errno = 0;
			assert_int_equal(turn_take(&turn[i], &deadline), 0);
			assert_int_equal(errno, 0);
			continue;
		}
		assert_int_equal(
			pthread_create(&threads[i], NULL, stand, &turn[i]), 0);
		while (in_line() < (unsigned int)THREADS - 1 - i)
			sched_yield();
	}
}

static void join(pthread_t threads[THREADS])
{
	for (int i = 0; i < THREADS - 1; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

TEST(order)
{
	struct turn turn[THREADS];
	pthread_t threads[THREADS];
	int64_t end;

	queue(turn, threads);
	/* All of them wait at least for so long. */
	end = wait_deadline(50);
	while (wait_deadline(0) < end)
		sched_yield();
	assert_int_equal(done, 0);
	turn_leave(&turn[THREADS - 1]);
	join(threads);
	for (unsigned int i = 0; i < THREADS - 1; i++) {
		assert_int_equal(order[i], i);
		/* What they waited is not taken from their time. */
		assert_in_range(later[i], 49, 60000);
	}
	assert_int_equal(turns.places, 1);
}

/* When it closes, nobody waits any longer, and nobody gets a place. */
TEST(close)
{
	struct turn turn[THREADS];
	pthread_t threads[THREADS];
	int64_t deadline = 0;

	queue(turn, threads);
	refused = 0;
	turns_close(&turns);
	join(threads);
	assert_int_equal(refused, THREADS - 1);
	assert_int_equal(done, 0);
	turn_leave(&turn[THREADS - 1]);
	assert_int_equal(turn_take(&turn[0], &deadline), -1);
	assert_int_equal(errno, ECANCELED);
}
