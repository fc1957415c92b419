/*
 * rds_errors.c - the kernel's RDS fails, in each of its ways
 *
 * Preloaded into a program of chapter 06: each call of the function that
 * $RDS_CALL names (recvmsg or sendmsg) fails with the next errno of $RDS_ERRORS,
 * a list of numbers, until there is none left.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Whether this call shall fail; errno is set then. */
static int shall_fail(const char *name)
{
	static char *rest;
	const char *call = getenv("RDS_CALL");
	char *end;
	long err;

	if (!call || strcmp(call, name))
		return 0;
	if (!rest)
		rest = getenv("RDS_ERRORS");
	if (!rest)
		return 0;
	err = strtol(rest, &end, 10);
	if (end == rest)
		return 0;
	rest = end;
	errno = err;
	return 1;
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	typeof(&recvmsg) real = dlsym(RTLD_NEXT, "recvmsg");

	return shall_fail("recvmsg") ? -1 : real(fd, msg, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	typeof(&sendmsg) real = dlsym(RTLD_NEXT, "sendmsg");

	return shall_fail("sendmsg") ? -1 : real(fd, msg, flags);
}
