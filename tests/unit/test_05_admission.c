/*
 * test_05_admission.c - for how many clients there are threads
 */
#define _GNU_SOURCE
#include "admission.h"

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture.h"
#include "threads.h"

static struct captured said;

static int fit(unsigned long left, unsigned int *max, unsigned int *shaking)
{
	int ret;

	capture_start();
	ret = admission_threads(left, max, shaking);
	capture_stop(&said);
	return ret;
}

/* Never more than there are threads for, some of them left to others. */
static void test_share(void **state)
{
	unsigned int max = 20, shaking = 8;

	(void)state;
	assert_int_equal(fit(ULONG_MAX, &max, &shaking), 0);
	assert_int_equal(fit(36, &max, &shaking), 0);
	assert_string_equal(said.out, "");
	assert_int_equal(max, 20);
	assert_int_equal(shaking, 8);
	for (unsigned long left = 35; left >= 13; left--) {
		max = 1000;
		shaking = 2000;
		assert_int_equal(fit(left, &max, &shaking), 0);
		assert_true(max >= 1 && shaking >= 4);
		assert_true(max + shaking + 8 <= left);
		assert_one_line(said.out, "more threads: room for ");
	}
	max = 1;
	assert_int_equal(fit(12, &max, &shaking), -1);
	assert_one_line(said.err, "12 more threads are too few for a server");
}

static char root[] = "/tmp/admission.XXXXXX";

/* group: a folder below root; NULL: there is no such file in it. */
static void write_group(const char *group, const char *max, const char *used)
{
	const char *const names[] = { "pids.max", "pids.current" };
	const char *const texts[] = { max, used };
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, group);
	mkdir(path, 0700);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", root, group, names[i]);
		unlink(path);
		if (!texts[i])
			continue;
		file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%s\n", texts[i]);
		fclose(file);
	}
}

/* The least that is left in a group and in those around it. */
static void test_groups(void **state)
{
	char command[64];

	(void)state;
	assert_non_null(mkdtemp(root));
	write_group("", NULL, NULL);
	write_group("/a", "100", "30");
	write_group("/a/b", "max", "20");
	assert_true(threads_left_in_group(root, "/") == ULONG_MAX);
	assert_int_equal(threads_left_in_group(root, "/a/b"), 70);
	write_group("/a/b", "60", "20");
	assert_int_equal(threads_left_in_group(root, "/a/b"), 40);
	assert_int_equal(threads_left_in_group(root, "/a"), 70);
	write_group("/a/b", "10", "20");
	assert_int_equal(threads_left_in_group(root, "/a/b"), 0);
	/* One that is not there, in one that is. */
	assert_int_equal(threads_left_in_group(root, "/a/c"), 70);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void *wait_for_end(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

/* In a child, as a user of whom nothing else runs: 0 if all is right. */
static int count_as_user(void)
{
	struct rlimit limit = { 50, 50 };
	pthread_barrier_t barrier;
	pthread_t threads[5];
	unsigned long before;

	if (setrlimit(RLIMIT_NPROC, &limit) || (!getuid() && setuid(54321)))
		return 1;
	before = threads_left_to_user();
	if (before >= 50)
		return 2;
	pthread_barrier_init(&barrier, NULL, 6);
	for (int i = 0; i < 5; i++)
		if (pthread_create(&threads[i], NULL, wait_for_end, &barrier))
			return 3;
	if (threads_left_to_user() != before - 5)
		return 4;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void test_user(void **state)
{
	int status;
	pid_t child;

	(void)state;
	/* Root has no such limit; others are counted with all that they run. */
	if (getuid())
		return;
	assert_true(threads_left_to_user() == ULONG_MAX);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(count_as_user());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_user),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
