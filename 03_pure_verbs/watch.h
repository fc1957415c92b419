/*
 * watch.h - the asynchronous events of a device
 *
 * What no completion tells: a port went down, a queue pair broke.
 */
#ifndef WATCH_H
#define WATCH_H

#include "device.h"

/*
 * Starts a thread that prints each asynchronous event of the open device and
 * acknowledges it. Returns 0, or -1 having said why.
 */
int watch_start(struct device *device);

/* Ends the thread, if it runs, and waits for its end. */
void watch_stop(struct device *device);

#endif
