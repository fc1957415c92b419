/*
 * test_07_two_ends.c - a file arrives, or is refused or given up at each moment that there
 * is, whichever end goes on first: see two_ends.h
 */
#define _GNU_SOURCE
#include "two_ends.h"

/* Makes the file that is the nth to be sent; -1 if that fails. */
static int make_file(unsigned int n, const char *name, size_t size)
{
	int fd = openat(from_fd, name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int ret = file ? 0 : -1;

	/* In one piece, as far as possible: a call for each byte takes long. */
	for (size_t i = 0; i < size && !ret; i++)
		ret = putc(i * 7 + i / 256 + n, file) == EOF ? -1 : 0;
	if (file && fclose(file))
		ret = -1;
	else if (!file && fd >= 0)
		close(fd);
	return asprintf(&names[n], "%s/%s", from, name) < 0 ? -1 : ret;
}

static void remove_files(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		unlink(names[i]);
		free(names[i]);
	}
}

/* Whether what arrived under that name is what the nth file has. */
static bool arrived(unsigned int n, const char *name)
{
	char one[16384], two[16384];
	int fd1 = open(names[n], O_RDONLY);
	int fd2 = openat(to_fd, name, O_RDONLY);
	ssize_t n1 = read(fd1, one, sizeof(one));
	ssize_t n2 = read(fd2, two, sizeof(two));

	close(fd1);
	close(fd2);
	return n1 >= 0 && n1 == n2 && !memcmp(one, two, n1);
}

static void *receive(void *ret)
{
	end_begins(&ends[1]);
	*(int *)ret = receiver_run(&ends[1].stream, &folder);
	end_leaves(&ends[1]);
	return NULL;
}

/* Sends count files over ends that are open: what the two runs return. */
static void transfer(unsigned int count, int *sent, int *received)
{
	pthread_t thread;

	sender = (struct sender){ .names = names, .count = count };
	ends[0].runs = true;
	capture_start();
	pthread_create(&thread, NULL, receive, received);
	*sent = sender_run(&sender, &ends[0].stream);
	end_leaves(&ends[0]);
	pthread_join(thread, NULL);
	capture_stop(&said);
	ends_close();
}

static const enum mode modes[] = { MODE_SEND, MODE_WRITE, MODE_READ };

#define BYTES 256

static void passes(enum mode mode, unsigned int depth)
{
	int sent = 1, received = 1;

	assert_int_equal(make_file(0, "f", 60 * BYTES + 7), 0);
	assert_int_equal(ends_open(mode, depth, BYTES), 0);
	transfer(1, &sent, &received);
	if (sent || received || sender.refused || stuck || not_ready ||
	    !arrived(0, "f"))
		fail_msg("%s, depth %u: %d %d, stuck %d, refused %u:\n%s",
			 msg_mode_name(mode), depth, sent, received, stuck,
			 sender.refused, said.err);
	assert_int_equal(unlinkat(to_fd, "f", 0), 0);
	remove_files(1);
}

/* Whoever goes on first, nobody waits for ever, and no message meets no receive. */
TEST(arrives)
{
	static const unsigned int depths[] = { 4, 5, 7, 8, 13, 32, 64, 256 };

	for (order = 0; order < ORDERS; order++)
		for (int m = 0; m < 3; m++)
			for (int d = 0; d < 8; d++)
				passes(modes[m], depths[d]);
}

static const unsigned int depths[] = { 4, 5 };

static const char *const order_names[ORDERS] = { "sender first",
						 "receiver first", "by turns" };

/* Files "a" of so many parts, which is stopped, and "b", which arrives. */
static void stops(enum mode mode, unsigned int depth, int parts, int full,
		  int shrinks, int changes)
{
	int sent = 1, received = 1;

	assert_int_equal(make_file(0, "a", parts * BYTES), 0);
	assert_int_equal(make_file(1, "b", 2 * BYTES + 1), 0);
	assert_int_equal(ends_open(mode, depth, BYTES), 0);
	full_at = full;
	shrinks_at = shrinks;
	changes_at = changes;
	transfer(2, &sent, &received);
	full_at = shrinks_at = changes_at = -1;
	if (sent || received || stuck || sender.refused != 1 || not_ready ||
	    !arrived(1, "b"))
		fail_msg("%s, depth %u, %s, %d parts, full at %d, shrinks at "
			 "%d, changes at %d: %d %d, stuck %d, refused %u:\n%s",
			 msg_mode_name(mode), depth, order_names[order], parts,
			 full, shrinks, changes, sent, received, stuck,
			 sender.refused, said.err);
	assert_int_equal(unlinkat(to_fd, "b", 0), 0);
	/* Nothing else is left. */
	assert_int_equal(unlinkat(to_fd, "a", 0), -1);
	remove_files(2);
}

/* The disk is full at each part of files of each number of parts. */
TEST(full)
{
	for (int m = 0; m < 3; m++)
		for (order = 0; order < ORDERS; order++)
			for (unsigned int d = 0; d < 2; d++)
				for (int n = 1; n < (int)depths[d] * 2; n++)
					for (int at = 0; at < n; at++)
						stops(modes[m], depths[d], n,
						      at, -1, -1);
}

/* The file is given up by one side as it is refused by the other. */
TEST(both)
{
	for (order = 0; order < ORDERS; order++)
		for (int m = 0; m < 3; m++)
			for (int at = 0; at < 5; at++)
				for (int shrinks = 0; shrinks < 5; shrinks++)
					stops(modes[m], 4, 5, at, shrinks, -1);
}

/* It changes while it is sent; and, at each part, the disk is full as well. */
TEST(changes)
{
	for (order = 0; order < ORDERS; order++)
		for (int m = 0; m < 3; m++)
			for (int at = -1; at < 6; at++)
				stops(modes[m], 4, 6, at, -1, 5);
	stops(MODE_SEND, 4, 1, -1, -1, 0);
	stops(MODE_SEND, 4, 9, -1, -1, 3);
}

AROUND_ALL(make_folders, remove_folders)
