/*
 * admission.h - for how many clients this process has all that they need
 *
 * A client that is let in and then fails, since there is no memory or thread
 * for it, learns less than one that is told that the server is full.
 */
#ifndef ADMISSION_H
#define ADMISSION_H

#include "device.h"

/*
 * Room for *max clients and *shaking handshakes beside them, with the
 * descriptors and the threads that this process may have; makes them smaller,
 * and says so, if that is too little. Returns 0, or -1 having said why.
 */
int admission_fit(unsigned int *max, unsigned int *shaking);

/*
 * The same for the memory that device locks for each client, of which it will
 * use so many bytes: to be called when device is open, and before the first
 * client.
 */
int admission_memory(const struct device *device, size_t bytes,
		     unsigned int *max);

/* The parts of admission_fit(); left: threads that may still be started. */
int admission_descriptors(unsigned int *max, unsigned int *shaking);
int admission_threads(unsigned long left, unsigned int *max,
		      unsigned int *shaking);

#endif
