/*
 * test_05_output.c - lines for which somebody, or nobody, reads
 */
#define _GNU_SOURCE
#include "output.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "log.h"
#include "wait.h"

/* What a stall costs, and what is soon, on a machine that is busy. */
#define SOON_MS (OUTPUT_STALL_MS + 5000)

#define THREADS 8
#define LINES 50

static int saved, ends[2];

/* stdout is a small pipe, with room for two pages. */
static int open_pipe(void **state)
{
	(void)state;
	saved = dup(STDOUT_FILENO);
	return saved < 0 || pipe(ends) ||
	       fcntl(ends[1], F_SETPIPE_SZ, 8192) < 0;
}

static void use_pipe(void)
{
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
}

static void use_own(void)
{
	dup2(saved, STDOUT_FILENO);
}

static int close_pipe(void **state)
{
	(void)state;
	use_own();
	close(saved);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void *say_much(void *argument)
{
	char text[900];

	memset(text, 'x', sizeof(text));
	for (int i = 0; i < LINES; i++)
		log_text("text: ", text, sizeof(text));
	return argument;
}

/* How long it takes all threads to say all that they have to say. */
static int64_t say_all(void)
{
	int64_t begin = wait_deadline(0);
	pthread_t threads[THREADS];

	use_pipe();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, say_much, NULL))
			return -1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	use_own();
	return wait_deadline(0) - begin;
}

TEST_AROUND(nobody_reads, open_pipe, close_pipe)
{
	static char text[16384];
	int64_t took = say_all();
	unsigned int lines = 0, lost = 0;
	ssize_t n;

	assert_in_range(took, OUTPUT_STALL_MS, SOON_MS);
	/* Somebody reads again, and is told. */
	n = read(ends[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	for (ssize_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	use_pipe();
	log_line("again");
	use_own();
	n = read(ends[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = 0;
	assert_int_equal(sscanf(text, "(%u lines were lost here)", &lost), 1);
	assert_int_equal(lines + lost, THREADS * LINES);
	assert_string_equal(strchr(text, '\n'), "\nagain\n");
}

static void *read_all(void *count)
{
	char text[512];
	ssize_t n;

	while ((n = read(ends[0], text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++)
			*(unsigned int *)count += text[i] == '\n';
	return NULL;
}

/* A reader that is slow misses nothing. */
TEST_AROUND(somebody_reads, open_pipe, close_pipe)
{
	unsigned int count = 0;
	pthread_t thread;
	int64_t took;

	assert_int_equal(pthread_create(&thread, NULL, read_all, &count), 0);
	took = say_all();
	close(ends[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	ends[1] = -1;
	assert_true(took >= 0);
	assert_int_equal(count, THREADS * LINES);
}
