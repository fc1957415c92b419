/*
 * two_files.h - files that go from a folder to another, over two_ends.h
 *
 * The disk of the receiver is full at a write of the test's choice, and a file of
 * the sender's ends, or changes, at a read of its choice: all concern the file "a".
 */
#ifndef TWO_FILES_H
#define TWO_FILES_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>

#include "capture.h"
#include "receiver.h"
#include "sender.h"
#include "two_ends.h"

static char from[] = "/tmp/test_two_files.XXXXXX",
	    to[] = "/tmp/test_two_files.XXXXXX";
static int from_fd, to_fd;
static struct folder folder;
static int full_at = -1, shrinks_at = -1, changes_at = -1; /* -1: never */
static struct sender sender;
static char *names[3];

/* Whether fd is the file "a", or what has arrived of it. */
static bool is_a(int fd)
{
	char link[64], path[256] = "";
	const char *name;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) < 0)
		return false;
	name = strrchr(path, '/');
	return name && (!strcmp(name, "/a") || !strncmp(name, "/.a.", 4));
}

ssize_t pwrite(int fd, const void *buf, size_t length, off_t offset)
{
	if (full_at >= 0 && is_a(fd) && full_at-- == 0) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, buf, length, offset);
}

ssize_t pread(int fd, void *buf, size_t length, off_t offset)
{
	static const struct timespec times[2];

	if (shrinks_at >= 0 && is_a(fd) && shrinks_at-- == 0)
		return 0;
	/* Its time is another one: nobody waits for the clock's next tick. */
	if (changes_at >= 0 && is_a(fd) && changes_at-- == 0)
		futimens(fd, times);
	return syscall(SYS_pread64, fd, buf, length, offset);
}

static int make_folders(void **state)
{
	(void)state;
	if (!mkdtemp(from) || !mkdtemp(to))
		return -1;
	from_fd = open(from, O_RDONLY | O_DIRECTORY);
	to_fd = open(to, O_RDONLY | O_DIRECTORY);
	folder = (struct folder){ .fd = to_fd, .most = 1 << 30 };
	setlocale(LC_CTYPE, "C.UTF-8");
	return from_fd < 0 || to_fd < 0;
}

static int remove_folders(void **state)
{
	(void)state;
	return rmdir(from) || rmdir(to);
}

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
	*(int *)ret = receiver_run(&ends[1].channel, &folder);
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
	*sent = sender_run(&sender, &ends[0].channel);
	end_leaves(&ends[0]);
	pthread_join(thread, NULL);
	capture_stop(&said);
	ends_close();
}

#endif
