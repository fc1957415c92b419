/*
 * limit.h - what the device says that it can do
 */
#ifndef LIMIT_H
#define LIMIT_H

#include <stddef.h>

#include <infiniband/verbs.h>

/*
 * Whether the device can register size bytes at a time. Returns 0, or -1 having
 * said why not.
 */
int limit_check_region(struct ibv_context *verbs, size_t size);

#endif
