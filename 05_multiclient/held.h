/*
 * held.h - how many objects of the device exist
 *
 * Counted where each is made and destroyed, by the threads of all connections:
 * what is left at the end has been forgotten.
 */
#ifndef HELD_H
#define HELD_H

#include <stdatomic.h>

struct held {
	atomic_int pds, cqs, qps, mrs;
};

#endif
