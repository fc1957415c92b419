/*
 * at_call.h - what a wrapper of a function is made of: see at_call.c
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A test that is set up wrongly must not look like one that passed. */
static void give_up(const char *why)
{
	fprintf(stderr, "at_call: %s\n", why);
	_exit(97);
}

/* It has to end by itself, and soon. */
static void interrupt(int signal)
{
	alarm(2);
	kill(getpid(), signal);
}

static void lose_memory(void)
{
	char *volatile lost = malloc(77);

	if (!lost)
		give_up("malloc");
	lost = NULL;
}

static void report(const char *variable, const char *name)
{
	const char *path = getenv(variable);
	int fd, before = errno;

	if (!path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || dprintf(fd, "%s\n", name) < 0 || close(fd))
		give_up("cannot write a report");
	errno = before;
}

/* Whether the nth call of name is the one that AT_CALL means. */
static bool is_the_call(const char *name, int nth)
{
	static atomic_int total;
	const char *at = getenv("AT_CALL");
	char this_one[64];
	int now = ++total;

	if (!at)
		return false;
	snprintf(this_one, sizeof(this_one), "%s %d", name, nth);
	return !strcmp(at, this_one) || atoi(at) == now;
}

/*
 * How many wrapped functions are being called: the libraries call each other
 * and themselves, and only what the program itself calls is meant.
 */
static _Thread_local int depth;

/* Returns whether the call shall fail, and sets errno for it if so. */
static bool at_call(const char *name, int nth, bool can_fail)
{
	const char *action = getenv("AT_ACTION");
	static atomic_flag done = ATOMIC_FLAG_INIT;

	if (!action || depth || (!can_fail && !strcmp(action, "fail")) ||
	    !is_the_call(name, nth) || atomic_flag_test_and_set(&done))
		return false;
	report("AT_REPORT", name);
	if (!strcmp(action, "kill"))
		kill(getpid(), SIGKILL);
	else if (!strcmp(action, "stop"))
		raise(SIGSTOP); /* this thread: at once, not a little later */
	else if (!strcmp(action, "int"))
		interrupt(SIGINT);
	else if (!strcmp(action, "term"))
		interrupt(SIGTERM);
	else if (!strcmp(action, "leak"))
		lose_memory();
	else if (strcmp(action, "fail"))
		give_up("AT_ACTION is none of those that there are");
	errno = EIO;
	return !strcmp(action, "fail");
}

/* After a call: 1 if it counts, which has brought something. */
static int made(const char *name, bool brought)
{
	if (!brought || depth)
		return 0;
	report("AT_LIST", name);
	return 1;
}

static void *find(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		give_up(name);
	return function;
}

#define FIND(name)                 \
	static typeof(&name) real; \
	if (!real)                 \
	real = find(#name)

/* A wrapper, where brought says whether ret is a result that counts. */
#define WRAP(type, name, params, args, failed, brought) \
	WRAP_UNLESS(false, type, name, params, args, failed, brought)

/* The same, where some calls are left alone. */
#define WRAP_UNLESS(alone, type, name, params, args, failed, brought) \
	type name params                                              \
	{                                                             \
		static atomic_int count;                              \
		type ret;                                             \
                                                                      \
		FIND(name);                                           \
		if (alone)                                            \
			return real args;                             \
		if (at_call(#name, count + 1, true))                  \
			return failed;                                \
		depth++;                                              \
		ret = real args;                                      \
		depth--;                                              \
		count += made(#name, brought);                        \
		return ret;                                           \
	}

/* The same for what frees: it is done even so, or it would be a leak. */
#define WRAP_END(name, params, args, failed)                  \
	int name params                                       \
	{                                                     \
		static atomic_int count;                      \
		bool fails = at_call(#name, count + 1, true); \
		int ret;                                      \
                                                              \
		FIND(name);                                   \
		depth++;                                      \
		ret = real args;                              \
		depth--;                                      \
		count += made(#name, true);                   \
		errno = fails ? EIO : errno;                  \
		return fails ? failed : ret;                  \
	}

/* The same for what cannot fail. */
#define WRAP_VOID(name, params, args)             \
	void name params                          \
	{                                         \
		static atomic_int count;          \
                                                  \
		FIND(name);                       \
		at_call(#name, count + 1, false); \
		depth++;                          \
		real args;                        \
		depth--;                          \
		count += made(#name, true);       \
	}

/* The same for what libibverbs calls through the context, by hook(). */
#define WRAP_OP(op, params, args, failed, brought)        \
	static int(*real_##op) params;                    \
                                                          \
	static int op params                              \
	{                                                 \
		static atomic_int count;                  \
		int ret;                                  \
                                                          \
		if (at_call("ibv_" #op, count + 1, true)) \
			return failed;                    \
		depth++;                                  \
		ret = real_##op args;                     \
		depth--;                                  \
		count += made("ibv_" #op, brought);       \
		return ret;                               \
	}
