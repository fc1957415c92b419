/*
 * psn_source.h - chapter 03's source of random numbers, in a test's hands
 *
 * getrandom(2) gives what a test wants, or the real thing.
 */
#ifndef PSN_SOURCE_H
#define PSN_SOURCE_H

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOURCE "getrandom"

static const uint8_t *planned; /* NULL: really random ones */
static ssize_t gives = 3; /* how many bytes it gives; -1: it fails */
static size_t asked;
static unsigned int calls;
/* It must wait until the kernel has gathered enough: getrandom(2). */
static unsigned int flagged;

static const ssize_t failures[] = { -1, 0, 2 };

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	calls++;
	asked += length;
	flagged |= flags;
	if (gives < 0) {
		errno = ENOSYS;
		return -1;
	}
	if (!planned)
		return syscall(SYS_getrandom, buffer, length, flags);
	memcpy(buffer, planned, gives);
	return gives;
}

static void source_fails(int i)
{
	static const uint8_t some[3] = { 1, 2, 3 };

	planned = i < 0 ? NULL : some;
	gives = i < 0 ? 3 : failures[i];
}

#endif
