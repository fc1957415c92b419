/*
 * stdatomic.h - for tcc, which knows no _Atomic: as much as chapter 05 asks for
 *
 * A node in the page has one processor, and each object is changed by one thread
 * at a time but for these counters. What tcc makes of `count++` can in principle be
 * interrupted in the middle; gcc, which has built the chapter before, makes one
 * atomic operation of it.
 */
#ifndef STDATOMIC_H
#define STDATOMIC_H

typedef volatile int atomic_int;

#endif
