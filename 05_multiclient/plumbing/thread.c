/*
 * thread.c - a thread that costs little, since there are many
 */
#include "thread.h"

#include "log.h"

/* It needs far less than the default, 8 MB of addresses for each. */
#define STACK_SIZE (512 * 1024)

int thread_start(pthread_t *thread, void *(*run)(void *argument),
		 void *argument, const char *hint)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return log_fail_errno("pthread_attr_init", err, "no memory");
	err = pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (!err)
		err = pthread_create(thread, &attr, run, argument);
	pthread_attr_destroy(&attr);
	if (err)
		return log_fail_errno("pthread_create", err,
				      "%s; see \"ulimit -u\"", hint);
	return 0;
}
