/*
 * admission.c - for how many clients this process has all that they need
 */
#include "admission.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/resource.h>

#include "conn.h"
#include "data.h"
#include "descriptors.h"
#include "log.h"
#include "threads.h"

/* With fewer handshakes at a time, one silent client would be felt. */
#define SHAKING_MIN 4

/* Threads that are left to others of this user. */
#define THREADS_SPARE 8

/* Shares what is left: a quarter for those who are not yet known. */
static void share(unsigned long left, unsigned int each, unsigned int *max,
		  unsigned int *shaking)
{
	if (*shaking > left / 4)
		*shaking = left / 4 > SHAKING_MIN ? left / 4 : SHAKING_MIN;
	left = (left - *shaking) / each;
	if (*max > left)
		*max = left;
}

int admission_descriptors(unsigned int *max, unsigned int *shaking)
{
	unsigned long wanted = DESCRIPTORS_BASE + *shaking +
			       (unsigned long)*max * DESCRIPTORS_PER_CLIENT;
	unsigned long given = descriptors_raise(wanted);

	if (given >= wanted)
		return 0;
	if (given < DESCRIPTORS_BASE + SHAKING_MIN + DESCRIPTORS_PER_CLIENT) {
		if (given)
			log_fail("%lu descriptors are too few for a server; "
				 "see \"ulimit -n\"",
				 given);
		return -1;
	}
	share(given - DESCRIPTORS_BASE, DESCRIPTORS_PER_CLIENT, max, shaking);
	log_line("%lu descriptors: room for %u clients and %u handshakes at a "
		 "time; for more, see \"ulimit -Hn\".",
		 given, *max, *shaking);
	return 0;
}

int admission_threads(unsigned long left, unsigned int *max,
		      unsigned int *shaking)
{
	if (left >= (unsigned long)*max + *shaking + THREADS_SPARE)
		return 0;
	if (left < SHAKING_MIN + 1 + THREADS_SPARE)
		return log_fail("%lu more threads are too few for a server; "
				"see \"ulimit -u\", and pids.max of its "
				"control group",
				left);
	share(left - THREADS_SPARE, 1, max, shaking);
	log_line("%lu more threads: room for %u clients and %u handshakes at a "
		 "time; for more, see \"ulimit -u\", and pids.max of the "
		 "control group.",
		 left, *max, *shaking);
	return 0;
}

int admission_fit(unsigned int *max, unsigned int *shaking)
{
	return admission_descriptors(max, shaking) ||
			       admission_threads(threads_left(), max, shaking) ?
		       -1 :
		       0;
}

/* The number behind name in /proc/self/status; 0 if there is none. */
static unsigned long long own_status(const char *name, int base)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long value = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			value = strtoull(line + strlen(name), NULL, base);
	if (file)
		fclose(file);
	return value;
}

/* Bytes that this process has locked for devices. */
static unsigned long long locked(void)
{
	return own_status("VmPin:", 10) * 1024;
}

/*
 * Whether the limit is not for us. The kernel asks for the capability in its
 * first user namespace: what root of a container has does not count.
 */
static bool may_lock_all(void)
{
	char name[64] = "";

	return own_status("CapEff:", 16) >> CAP_IPC_LOCK & 1 &&
	       readlink("/proc/self/ns/user", name, sizeof(name) - 1) > 0 &&
	       !strcmp(name, "user:[4026531837]");
}

/* Makes what a client needs, looks what the device locks for it, frees it. */
static int measure(const struct device *device, size_t bytes,
		   unsigned long long *cost)
{
	struct held held = { 0 };
	struct conn conn = { .device = device, .held = &held };
	struct data data = { 0 };
	unsigned long long before = locked();
	int ret;

	log_prefix("one client, to see what it costs: ");
	/* As many requests as in server.c. */
	ret = conn_create_qp(&conn, 3, DATA_RECEIVES,
			     data_exposed_access(MODE_WRITE)) ||
	      data_open(&data, &conn, MODE_WRITE, bytes);
	*cost = locked() - before;
	data_close(&data);
	conn_close(&conn);
	log_prefix("%s", "");
	return ret ? -1 : 0;
}

int admission_memory(const struct device *device, size_t bytes,
		     unsigned int *max)
{
	unsigned long long cost, room;
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return log_fail_errno("getrlimit", errno, "RLIMIT_MEMLOCK");
	/* Up to the hard limit, everybody may raise the soft one. */
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return log_fail_errno("setrlimit", errno, "RLIMIT_MEMLOCK");
	if (limit.rlim_cur == RLIM_INFINITY || may_lock_all())
		return 0;
	if (measure(device, bytes, &cost))
		return -1;
	if (!cost)
		return 0;
	room = locked() < limit.rlim_cur ? (limit.rlim_cur - locked()) / cost :
					   0;
	if (room >= *max)
		return 0;
	if (!room)
		return log_fail("no client fits in the %llu kB of memory that "
				"this user may lock; see \"ulimit -Hl\""
				" [docs/troubleshooting.md#memlock]",
				(unsigned long long)limit.rlim_cur / 1024);
	*max = room;
	log_line("%llu kB of locked memory, %llu for each: room for %u "
		 "clients; for more, see \"ulimit -Hl\".",
		 (unsigned long long)limit.rlim_cur / 1024, cost / 1024, *max);
	return 0;
}
