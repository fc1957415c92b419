/*
 * descriptors.c - how many connections the descriptors of a process allow
 *
 * Born in 05_multiclient.
 */
#include "descriptors.h"

#include <errno.h>

#include <sys/resource.h>

#include "log.h"

/* With fewer handshakes at a time, one silent client would be felt. */
#define SHAKING_MIN 4

unsigned long descriptors_raise(unsigned long wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit)) {
		log_fail_errno("getrlimit", errno, "RLIMIT_NOFILE");
		return 0;
	}
	if (limit.rlim_cur >= wanted)
		return limit.rlim_cur;
	/* Up to the hard limit, everybody may raise the soft one. */
	limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		log_fail_errno("setrlimit", errno, "RLIMIT_NOFILE");
		return 0;
	}
	return limit.rlim_cur;
}

int descriptors_fit(unsigned int *max, unsigned int *shaking)
{
	unsigned long wanted = DESCRIPTORS_BASE + *shaking +
			       (unsigned long)*max * DESCRIPTORS_PER_CLIENT;
	unsigned long given = descriptors_raise(wanted), left;

	if (given >= wanted)
		return 0;
	if (given < DESCRIPTORS_BASE + SHAKING_MIN + DESCRIPTORS_PER_CLIENT) {
		if (given)
			log_fail("%lu descriptors are too few for a server; "
				 "see \"ulimit -n\"",
				 given);
		return -1;
	}
	/* A quarter of them for those who are not yet known. */
	left = given - DESCRIPTORS_BASE;
	if (*shaking > left / 4)
		*shaking = left / 4 > SHAKING_MIN ? left / 4 : SHAKING_MIN;
	left = (left - *shaking) / DESCRIPTORS_PER_CLIENT;
	if (*max > left)
		*max = left;
	log_line("%lu descriptors: room for %u clients and %u handshakes at a "
		 "time; for more, see \"ulimit -Hn\".",
		 given, *max, *shaking);
	return 0;
}
