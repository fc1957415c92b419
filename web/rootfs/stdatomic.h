/*
 * stdatomic.h - for tcc, which knows no _Atomic: as much as chapters 05 and 07 ask for
 *
 * A node in the page has one processor, and each object is changed by one thread
 * at a time but for 05's counters. (07's flag is set by one thread, and only once.)
 * What tcc makes of `count++` can in principle be interrupted in the middle; gcc, which
 * has built the chapter before, makes one atomic operation of it.
 */
#ifndef STDATOMIC_H
#define STDATOMIC_H

typedef volatile _Bool atomic_bool;
typedef volatile int atomic_int;

#endif
