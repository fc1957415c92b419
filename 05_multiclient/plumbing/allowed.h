/*
 * allowed.h - what the system still allows this process
 *
 * Descriptors, threads and memory, each less what is in use already, and less a
 * few descriptors and threads to spare.
 */
#ifndef ALLOWED_H
#define ALLOWED_H

/*
 * Raises the limit on the descriptors of this process, as far as it may, until
 * it can open wanted more. Returns how many more it may open then.
 */
unsigned long allowed_descriptors(unsigned long wanted);

/*
 * How many threads it may still start, by the limit of its user (RLIMIT_NPROC)
 * and those of its control groups (pids.max), as far as they can be read.
 * ULONG_MAX: no limit is known.
 */
unsigned long allowed_threads(void);

/* The two parts of that; root: where the control groups are mounted. */
unsigned long allowed_threads_of_user(void);
unsigned long allowed_threads_of_group(const char *root, const char *group);

/*
 * How many kB of memory it may have: what the machine has left, or what the limit
 * of a control group (memory.max) is, used or not, if that is less.
 */
unsigned long allowed_ram(void);

/* The second part of it. */
unsigned long allowed_ram_of_group(const char *root, const char *group);

/* How many kB it may still lock for devices; ULONG_MAX: there is no limit. */
unsigned long allowed_memory(void);

/* How many kB it has locked. */
unsigned long allowed_locked(void);

#endif
