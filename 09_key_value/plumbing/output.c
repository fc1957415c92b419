/*
 * output.c - lines on stdout and stderr, without a long wait for their reader
 *
 * write(2) to a pipe that is full waits for its reader. While it waits, so does
 * every other thread that has something to say, even the one that handles
 * SIGTERM: a server would depend on whoever reads its log.
 */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* All threads share stdout and stderr, so they share the lock, too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int lost[STDERR_FILENO + 1]; /* lines, by descriptor */

/* Whether there is room in fd, now or soon. */
static bool has_room(int fd)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	int n;

	do {
		/* Do not wait a second time for a reader that was late. */
		n = poll(&room, 1, lost[fd] ? 0 : OUTPUT_STALL_MS);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

static bool put(int fd, const char *text, size_t length)
{
	while (length) {
		/* A pipe with any room has room for this much: pipe(7). */
		size_t part = length < PIPE_BUF ? length : PIPE_BUF;
		ssize_t n;

		if (!has_room(fd))
			return false;
		n = write(fd, text, part);
		/* There is nowhere to report this. */
		if (n < 0)
			return false;
		text += n;
		length -= n;
	}
	return true;
}

void output_line(int fd, const char *text, size_t length)
{
	char note[64];
	int n;

	pthread_mutex_lock(&lock);
	if (lost[fd]) {
		n = snprintf(note, sizeof(note), "(%u lines were lost here)\n",
			     lost[fd]);
		if (put(fd, note, n))
			lost[fd] = 0;
	}
	if (!put(fd, text, length))
		lost[fd]++;
	pthread_mutex_unlock(&lock);
}
