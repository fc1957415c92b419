/*
 * test_05_figures.c - who is let in, and what is counted, by many threads
 */
#include "figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture.h"
#include "log.h"

#define THREADS 8
#define ROUNDS 2000
#define MAX 3

static struct figures figures;
static unsigned int seen[THREADS * ROUNDS + 1];

/* Comes, is let in or not, and goes: in the same way each time. */
static void *come_and_go(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct hello hello;

		figures_arrive(&figures);
		figures_handshake(&figures, i % 5, i, &hello);
		if (!hello.number)
			continue;
		if (hello.connected > MAX || hello.connected < 1 ||
		    hello.max != MAX || hello.number > THREADS * ROUNDS)
			return argument;
		/* A number is one client's: nobody else writes here. */
		seen[hello.number]++;
		figures_setup(&figures, i);
		if (i % 2)
			figures_served(&figures, 10, 20);
		else
			figures_failed(&figures, i % STEP_COUNT);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS];
	unsigned int sum;
	void *failed;

	(void)state;
	figures_start(&figures, MAX);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go,
						&figures),
				 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(figures.shaking, 0);
	assert_int_equal(figures.connected, 0);
	assert_in_range(figures.peak, 1, MAX);
	/* Numbers without a gap, each given once. */
	for (unsigned int i = 1; i <= figures.number; i++)
		assert_int_equal(seen[i], 1);
	assert_int_equal(figures.failed[STEP_HANDSHAKE] >= ROUNDS / 5 * THREADS,
			 1);
	sum = figures.served + figures.refused + figures_failures(&figures);
	assert_int_equal(sum, THREADS * ROUNDS);
	assert_int_equal(figures.bytes_in, 10 * figures.served);
	assert_int_equal(figures.bytes_out, 20 * figures.served);
	assert_int_equal(figures.setup.count, figures.number);
}

/* Full is full, and a place that is left is one to be had. */
static void test_full(void **state)
{
	struct hello hello;

	(void)state;
	figures_start(&figures, 2);
	for (unsigned int i = 1; i <= 3; i++) {
		figures_arrive(&figures);
		assert_int_equal(figures_shaking(&figures), 1);
		figures_handshake(&figures, true, 1, &hello);
		assert_int_equal(hello.number, i < 3 ? i : 0);
		assert_int_equal(hello.connected, i < 3 ? i : 2);
		assert_int_equal(hello.max, 2);
	}
	figures_failed(&figures, STEP_ECHO);
	figures_arrive(&figures);
	figures_handshake(&figures, true, 1, &hello);
	assert_int_equal(hello.number, 3);
	/* A stranger who fails takes no place. */
	figures_served(&figures, 0, 0);
	figures_arrive(&figures);
	figures_handshake(&figures, false, 1, &hello);
	assert_int_equal(figures.connected, 1);
	assert_int_equal(figures.refused, 1);
	assert_int_equal(figures_failures(&figures), 2);
}

static void test_print(void **state)
{
	static const char *const lines[] = {
		"[figures] connected: 1 of 2, at most 2; shaking hands: 1\n",
		"[figures] served: 1; refused: 0; failed: 1\n",
		"[figures] failed at: handshake 0, exchange 0, objects 0, echo "
		"0, transfer 1, goodbye 0\n",
		"[figures] bytes in: 5; bytes out: 6\n",
		"[figures] handshake: 2.0 ms on average, 3.0 ms at most\n",
		"[figures] setup: 0.0 ms on average, 0.0 ms at most\n",
		"[figures] objects held: 4 PDs, 3 CQs, 2 QPs, 7 MRs\n",
	};
	const struct held held = { .pds = 4, .cqs = 3, .qps = 2, .mrs = 7 };
	struct captured said;
	struct hello hello;

	(void)state;
	figures_start(&figures, 2);
	for (int i = 1; i <= 4; i++)
		figures_arrive(&figures);
	figures_handshake(&figures, true, 1000000, &hello);
	figures_handshake(&figures, true, 3000000, &hello);
	figures_served(&figures, 5, 6);
	figures_failed(&figures, STEP_TRANSFER);
	figures_handshake(&figures, true, 2000000, &hello);
	capture_start();
	figures_print(&figures, &held);
	capture_stop(&said);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(said.out, lines[i]))
			fail_msg("no line %s in:\n%s", lines[i], said.out);
}

static void *say_as_five(void *argument)
{
	log_prefix("Client %d: ", 5);
	log_line("line");
	log_text("text: ", "x", 1);
	log_fail("fail");
	log_fail_errno("call", 0, "try");
	return argument;
}

/* The prefix is the thread's, on both streams. */
static void test_prefix(void **state)
{
	struct captured said;
	pthread_t thread;
	bool failed;

	(void)state;
	capture_start();
	failed = pthread_create(&thread, NULL, say_as_five, NULL) ||
		 pthread_join(thread, NULL);
	log_line("plain");
	capture_stop(&said);
	assert_false(failed);
	assert_string_equal(said.out, "Client 5: line\nClient 5: text: x\n"
				      "plain\n");
	assert_string_equal(said.err, "error: Client 5: fail\n"
				      "error: Client 5: call: failed without "
				      "saying why; try\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_prefix),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
