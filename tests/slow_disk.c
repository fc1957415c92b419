/*
 * slow_disk.c - a disk that is slow, for the programs that it is preloaded into
 *
 *   SLOW_SYNC   how many milliseconds each fsync() takes
 *   SLOW_READ   the same of each pread()
 *   SLOW_WRITE  and of each pwrite(), when it has written
 *   SLOW_STAT   and of each fstatat()
 *   STOP_SYNC   a number: the program stops (SIGSTOP) before that fsync()
 *   STOP_LOCK   it stops before each flock()
 *   STOP_NAME   and before each renameat2()
 *   NO_RENAME   no file is renamed without replacing, as on some file systems
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/stat.h>

static void take(const char *name)
{
	const char *ms = getenv(name);

	if (ms)
		poll(NULL, 0, atoi(ms));
}

static void *real(const char *name)
{
	void *call = dlsym(RTLD_NEXT, name);

	if (!call) {
		fprintf(stderr, "slow_disk: no %s\n", name);
		_exit(97);
	}
	return call;
}

int fsync(int fd)
{
	int (*call)(int) = real("fsync");
	const char *stop = getenv("STOP_SYNC");
	static int count;

	take("SLOW_SYNC");
	if (stop && ++count == atoi(stop))
		raise(SIGSTOP);
	return call(fd);
}

int flock(int fd, int how)
{
	int (*call)(int, int) = real("flock");

	if (getenv("STOP_LOCK"))
		raise(SIGSTOP);
	return call(fd, how);
}

int renameat2(int from, const char *old, int to, const char *new,
	      unsigned int flags)
{
	int (*call)(int, const char *, int, const char *, unsigned int) =
		real("renameat2");

	if (getenv("STOP_NAME"))
		raise(SIGSTOP);
	if (flags && getenv("NO_RENAME")) {
		errno = EINVAL;
		return -1;
	}
	return call(from, old, to, new, flags);
}

ssize_t pread(int fd, void *buf, size_t length, off_t at)
{
	ssize_t (*call)(int, void *, size_t, off_t) = real("pread");

	take("SLOW_READ");
	return call(fd, buf, length, at);
}

ssize_t pwrite(int fd, const void *buf, size_t length, off_t at)
{
	ssize_t (*call)(int, const void *, size_t, off_t) = real("pwrite");

	ssize_t n = call(fd, buf, length, at);

	take("SLOW_WRITE");
	return n;
}

int fstatat(int fd, const char *name, struct stat *st, int flags)
{
	int (*call)(int, const char *, struct stat *, int) = real("fstatat");

	take("SLOW_STAT");
	return call(fd, name, st, flags);
}
