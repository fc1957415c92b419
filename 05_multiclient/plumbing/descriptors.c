/*
 * descriptors.c - how many connections the descriptors of a process allow
 */
#include "descriptors.h"

#include <errno.h>

#include <sys/resource.h>

#include "log.h"

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
