/*
 * descriptors.h - how many connections the descriptors of a process allow
 */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

/* A connection has a socket and a completion channel. */
#define DESCRIPTORS_PER_CLIENT 2

/* What a program needs beside: standard ones, signals, device, listener. */
#define DESCRIPTORS_BASE 32

/*
 * Raises the number of descriptors that this process may have to wanted, or
 * as near as it is allowed to. Returns what it is now, or 0 having said why.
 */
unsigned long descriptors_raise(unsigned long wanted);

#endif
