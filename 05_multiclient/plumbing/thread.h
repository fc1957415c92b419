/*
 * thread.h - a thread that costs little, since there are many
 */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>

/*
 * Like pthread_create(3), with a small stack. Returns 0, or -1 after reporting
 * why; hint says what that means here. The caller joins the thread.
 */
int thread_start(pthread_t *thread, void *(*run)(void *argument),
		 void *argument, const char *hint);

#endif
