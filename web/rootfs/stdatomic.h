/*
 * stdatomic.h - for tcc, which knows no _Atomic: as much as chapters 05, 07 and 09 and
 * the exercises ask for
 *
 * A node in the page has one processor, and each object is changed by one thread
 * at a time but for 05's counters and what goes through the functions. (07's flag is set
 * by one thread, and only once.) What tcc makes of `count++` can in principle be
 * interrupted in the middle; gcc, which has built the chapter before, makes one atomic
 * operation of it.
 */
#ifndef STDATOMIC_H
#define STDATOMIC_H

typedef volatile _Bool atomic_bool;
typedef volatile int atomic_int;
typedef volatile unsigned int atomic_uint;

static inline unsigned int atomic_add(volatile void *object, unsigned int n)
{
	__asm__ __volatile__("lock; xaddl %0, %1"
			     : "+r"(n), "+m"(*(volatile unsigned int *)object)
			     :
			     : "memory");
	return n;
}

#define atomic_fetch_add(object, n) atomic_add(object, n)
#define atomic_fetch_sub(object, n) atomic_add(object, -(n))
#define atomic_load(object) (*(object))
#define atomic_store(object, value) (*(object) = (value))

/* A locked operation is a fence for whatever is before and after it. */
static inline void atomic_thread_fence(int order)
{
	unsigned int any = 0;

	(void)order;
	atomic_add(&any, 0);
}

#define memory_order_seq_cst 0

#endif
