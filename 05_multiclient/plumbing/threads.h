/*
 * threads.h - how many threads this process may still start
 */
#ifndef THREADS_H
#define THREADS_H

/*
 * By the limit of its user (RLIMIT_NPROC) and those of its control groups
 * (pids.max), as far as they can be read. ULONG_MAX: no limit is known.
 */
unsigned long threads_left(void);

/* The two parts of it; root: where the control groups are mounted. */
unsigned long threads_left_to_user(void);
unsigned long threads_left_in_group(const char *root, const char *group);

#endif
