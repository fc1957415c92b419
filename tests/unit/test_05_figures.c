/*
 * test_05_figures.c - who is let in, and what is counted, by many threads
 */
#include "figures.h"

#include <string.h>

#include "test.h"
#include "report.h"

#define THREADS 8
#define ROUNDS 2000
#define MAX 3

static struct figures figures;

static void figures_start(unsigned int max)
{
	figures = (struct figures){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.max = max,
	};
}

static unsigned int seen[THREADS * ROUNDS + 1];

/* Comes, is let in or not, and goes: in the same way each time. */
static void *come_and_go(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		unsigned int number, connected;

		figures_arrive(&figures);
		if (!(i % 5)) {
			figures_leave(&figures, STEP_HANDSHAKE);
			continue;
		}
		number = figures_let_in(&figures, &connected);
		if (!number)
			continue;
		if (connected > MAX || connected < 1 ||
		    number > THREADS * ROUNDS)
			return argument;
		/* A number is one client's: nobody else writes here. */
		seen[number]++;
		figures_leave(&figures, i % 5 + i % 2);
	}
	return NULL;
}

TEST(threads)
{
	pthread_t threads[THREADS];
	unsigned int sum;
	void *failed;

	figures_start(MAX);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go,
						&figures),
				 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(figures.strangers, 0);
	assert_int_equal(figures.connected, 0);
	/* Numbers without a gap, each given once. */
	for (unsigned int i = 1; i <= figures.number; i++)
		assert_int_equal(seen[i], 1);
	assert_int_equal(figures.left[STEP_HANDSHAKE], ROUNDS / 5 * THREADS);
	sum = figures.left[STEP_DONE] + figures.refused +
	      report_failed(&figures);
	assert_int_equal(sum, THREADS * ROUNDS);
	assert_true(figures.left[STEP_DONE] > 0);
}

/* Full is full, and a place that is left is one to be had. */
TEST(full)
{
	unsigned int connected;

	figures_start(2);
	for (unsigned int i = 1; i <= 3; i++) {
		figures_arrive(&figures);
		assert_int_equal(figures_now(&figures).strangers, 1);
		assert_int_equal(figures_let_in(&figures, &connected),
				 i < 3 ? i : 0);
		assert_int_equal(connected, i < 3 ? i : 2);
	}
	figures_leave(&figures, STEP_OBJECTS);
	figures_arrive(&figures);
	assert_int_equal(figures_let_in(&figures, &connected), 3);
	/* A stranger who fails takes no place. */
	figures_leave(&figures, STEP_DONE);
	figures_arrive(&figures);
	figures_leave(&figures, STEP_HANDSHAKE);
	assert_int_equal(figures.connected, 1);
	assert_int_equal(figures.refused, 1);
	assert_int_equal(report_failed(&figures), 2);
}

/* Each client is counted where it failed, and the objects that are held. */
TEST(print)
{
	static const char *const lines[] = {
		"[figures] connected: 1 of 2; shaking hands: 1\n",
		"[figures] served: 1; refused: 1; failed: 3\n",
		"[figures] failed at: handshake 2, exchange 0, objects 0, "
		"transfer 1, goodbye 0\n",
		"[figures] objects held: 5 PDs, 3 CQs, 2 QPs, 7 MRs\n",
	};
	static struct held held = { { 5, 3, 2, 7 } };
	unsigned int connected;

	figures_start(2);
	for (int i = 1; i <= 7; i++)
		figures_arrive(&figures);
	figures_let_in(&figures, &connected);
	figures_let_in(&figures, &connected);
	figures_let_in(&figures, &connected);
	figures_leave(&figures, STEP_DONE);
	figures_leave(&figures, STEP_TRANSFER);
	figures_let_in(&figures, &connected);
	figures_leave(&figures, STEP_HANDSHAKE);
	figures_leave(&figures, STEP_HANDSHAKE);
	CAPTURE(report_print(&figures, &held));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(said.out, lines[i]))
			fail_msg("no line %s in:\n%s", lines[i], said.out);
}
