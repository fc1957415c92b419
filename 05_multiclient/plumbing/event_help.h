/*
 * event_help.h - asynchronous events in words
 */
#ifndef EVENT_HELP_H
#define EVENT_HELP_H

#include <infiniband/verbs.h>

/*
 * Takes an event of the device off its context (struct ibv_context *), prints its
 * name and which queue pair or port it is about, and acknowledges it. Returns 0;
 * or -1, after reporting why, if there can be no more.
 */
int event_take(void *context);

#endif
