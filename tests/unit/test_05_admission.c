/*
 * test_05_admission.c - for how many clients there is all that they need
 */
#define _GNU_SOURCE
#include "admission.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "allowed.h"

/* A client takes two of it, a stranger one. */
static int share(unsigned long left, struct room *room)
{
	const struct supply supply = {
		.left = left,
		.what = "more things",
		.hint = "see elsewhere",
		.client = 2,
		.stranger = 1,
	};
	int ret;

	ret = CAPTURED(admission_share(room, &supply));
	return ret;
}

/* Never for more than there is of it, and some for strangers. */
TEST(share)
{
	struct room room = { 20, 8 };

	assert_int_equal(share(ULONG_MAX, &room), 0);
	assert_int_equal(share(48, &room), 0);
	assert_string_equal(said.out, "");
	assert_int_equal(room.clients, 20);
	assert_int_equal(room.strangers, 8);
	for (unsigned long left = 47; left >= 6; left--) {
		room = (struct room){ 1000, left % 2 ? 2000 : 10 };
		assert_int_equal(share(left, &room), 0);
		assert_true(room.clients >= 1 && room.strangers >= 4);
		assert_true(room.strangers == 4 || room.strangers <= left / 4);
		assert_true(2 * room.clients + room.strangers <= left);
		assert_true(2 * room.clients + room.strangers + 2 > left);
		assert_one_line(said.out, "more things: room for ");
	}
	room = (struct room){ 1, 4 };
	assert_int_equal(share(5, &room), -1);
	assert_one_line(said.err, "5 more things are too few for a server; "
				  "see elsewhere");
	assert_int_equal(share(0, &room), -1);
}

/* A quarter of what there is, at 96 kB each; and some in any case. */
TEST(strangers)
{
	assert_int_equal(admission_strangers(0), 4);
	assert_int_equal(admission_strangers(4 * 96 * 5 - 1), 4);
	assert_int_equal(admission_strangers(4 * 96 * 5), 5);
	assert_int_equal(admission_strangers(1024 * 1024), 2730);
	assert_true(admission_strangers(ULONG_MAX) >= 2730);
}

static char root[] = "/tmp/admission.XXXXXX";

/* group: a folder below root; text NULL: there is no such file in it. */
static void write_file(const char *group, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, group);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s%s/%s", root, group, name);
	unlink(path);
	if (!text)
		return;
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

static void write_group(const char *group, const char *max, const char *used)
{
	write_file(group, "pids.max", max);
	write_file(group, "pids.current", used);
}

/* The least that is left in a group and in those around it. */
TEST(groups)
{
	char command[64];

	assert_non_null(mkdtemp(root));
	write_group("", NULL, NULL);
	write_group("/a", "100", "30");
	write_group("/a/b", "max", "20");
	assert_true(allowed_threads_of_group(root, "/") == ULONG_MAX);
	assert_int_equal(allowed_threads_of_group(root, "/a/b"), 62);
	write_group("/a/b", "60", "20");
	assert_int_equal(allowed_threads_of_group(root, "/a/b"), 32);
	assert_int_equal(allowed_threads_of_group(root, "/a"), 62);
	write_group("/a/b", "10", "20");
	assert_int_equal(allowed_threads_of_group(root, "/a/b"), 0);
	/* One that is not there, in one that is. */
	assert_int_equal(allowed_threads_of_group(root, "/a/c"), 62);
	/* The same of memory, whatever is in use. */
	assert_true(allowed_ram_of_group(root, "/a/b") == ULONG_MAX);
	write_file("/a", "memory.max", "409600");
	write_file("/a", "memory.current", "409600");
	write_file("/a/b", "memory.max", "max");
	assert_int_equal(allowed_ram_of_group(root, "/a/b"), 400);
	write_file("/a/b", "memory.max", "102400");
	assert_int_equal(allowed_ram_of_group(root, "/a/b"), 100);
	assert_true(allowed_ram_of_group(root, "/") == ULONG_MAX);
	assert_true(allowed_ram() > 0 && allowed_ram() < ULONG_MAX);
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
	before = allowed_threads_of_user();
	/* This one runs, and some are left to others. */
	if (before > 50 - 1 - 8)
		return 2;
	pthread_barrier_init(&barrier, NULL, 6);
	for (int i = 0; i < 5; i++)
		if (pthread_create(&threads[i], NULL, wait_for_end, &barrier))
			return 3;
	if (allowed_threads_of_user() != before - 5)
		return 4;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

TEST(user)
{
	int status;
	pid_t child;

	/* Root has no such limit; others are counted with all that they run. */
	if (getuid())
		return;
	assert_true(allowed_threads_of_user() == ULONG_MAX);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(count_as_user());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/*
 * What is open counts, how many that may be: devices, for example. The last test,
 * since a limit can only go down.
 */
TEST(descriptors)
{
	struct rlimit limit;
	unsigned long before;
	int fds[10];

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 60;
	limit.rlim_max = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	before = allowed_descriptors(30);
	assert_true(before >= 30 && before < 60);
	for (int i = 0; i < 10; i++)
		fds[i] = dup(STDIN_FILENO);
	assert_int_equal(allowed_descriptors(10), before - 10);
	/* Up to the hard limit, and no more. */
	before = allowed_descriptors(1000);
	assert_true(before < 90 && before > 60);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(limit.rlim_cur, 100);
	for (int i = 0; i < 10; i++)
		close(fds[i]);
	assert_int_equal(allowed_descriptors(1000), before + 10);
}
