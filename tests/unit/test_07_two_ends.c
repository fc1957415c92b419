/*
 * test_07_two_ends.c - files go in chains, a file is refused or given up at each moment
 * that there is, and counters pass 2^32: see two_ends.h
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

#define CHAIN_BYTES 64
#define PARTS 250

static const enum mode modes[] = { MODE_SEND, MODE_WRITE, MODE_READ };

/* Sends a file of so many parts and a bit; what was posted is in ends. */
static void sends(enum mode mode, unsigned int depth)
{
	int sent = 1, received = 1;

	assert_int_equal(make_file(0, "f", PARTS * CHAIN_BYTES + 7), 0);
	assert_int_equal(ends_open(mode, depth, CHAIN_BYTES), 0);
	transfer(1, &sent, &received);
	if (sent || received || sender.refused || stuck || not_ready ||
	    !arrived(0, "f"))
		fail_msg("%s, depth %u: %d %d, stuck %d:\n%s",
			 msg_mode_name(mode), depth, sent, received, stuck,
			 said.err);
	assert_int_equal(unlinkat(to_fd, "f", 0), 0);
	remove_files(1);
	/* Each part, and BEGIN, END and BYE. */
	assert_true(ends[0].requests >= PARTS + 1 + 3);
}

/* A quarter of the depth, and not more than there is room for. */
static unsigned int chain_of(unsigned int depth)
{
	return depth / 4 < CHAIN_MAX ? depth / 4 : CHAIN_MAX;
}

TEST(sender)
{
	static const unsigned int depths[] = { 4, 7, 8, 13, 32, 64, 256 };

	for (order = 0; order < ORDERS; order++)
		for (int m = 0; m < 3; m++)
			for (int d = 0; d < 7; d++) {
				sends(modes[m], depths[d]);
				assert_int_equal(ends[0].longest,
						 chain_of(depths[d]));
				assert_int_equal(ends[0].signalled,
						 ends[0].requests);
			}
}

/* At a depth of 64, four of five calls are saved, at least; so with receives. */
TEST(fewer)
{
	order = SENDER_FIRST;
	for (int m = 0; m < 3; m++) {
		sends(modes[m], 64);
		assert_true(ends[0].calls * 5 < ends[0].requests);
		assert_true(ends[1].receive_calls * 5 < ends[1].rtail);
	}
}

/* READs go in chains too, but each says when its part is here. */
TEST(reader)
{
	order = SENDER_FIRST;
	sends(MODE_READ, 64);
	assert_int_equal(ends[1].longest, CHAIN_MAX);
	assert_true(ends[1].signalled > PARTS);
	assert_true(ends[1].calls * 5 < ends[1].requests);
}

#define BYTES 256

/* As after so many parts, and so many requests. */
static void begin_at(uint64_t count)
{
	for (int i = 0; i < 2; i++) {
		struct stream *stream = &ends[i].stream;

		stream->posted = stream->complete = count;
		stream->taken = stream->arrived = count;
		stream->chain.sends = stream->chain.sent = count;
		stream->flow.waits = count;
	}
}

static void passes(uint64_t count, enum mode mode, unsigned int depth)
{
	int sent = 1, received = 1;

	assert_int_equal(make_file(0, "f", 60 * BYTES + 7), 0);
	assert_int_equal(ends_open(mode, depth, BYTES), 0);
	begin_at(count);
	transfer(1, &sent, &received);
	if (sent || received || sender.refused || not_ready || !arrived(0, "f"))
		fail_msg("%s, depth %u, from %llu: %d %d, refused %u:\n%s",
			 msg_mode_name(mode), depth, (unsigned long long)count,
			 sent, received, sender.refused, said.err);
	assert_int_equal(unlinkat(to_fd, "f", 0), 0);
	remove_files(1);
}

/* 2^32 is no multiple of most depths; 2^31 is where a signed number ends. */
TEST(counts)
{
	static const unsigned int depths[] = { 4, 5, 7, 10, 12, 48 };
	static const uint64_t borders[] = { 0x10000, 0x80000000, 0x100000000,
					    0x200000000, UINT64_MAX };

	order = BY_TURNS;
	for (int b = 0; b < 5; b++)
		for (int m = 0; m < 3; m++)
			for (int d = 0; d < 6; d++)
				passes(borders[b] - (b == 4 ? 1000 : 20),
				       modes[m], depths[d]);
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
