/*
 * event_help.h - asynchronous events in words
 */
#ifndef EVENT_HELP_H
#define EVENT_HELP_H

#include <infiniband/verbs.h>

/* Prints the event's name, and which queue pair or port it is about. */
void event_print(const struct ibv_async_event *event);

#endif
