/*
 * limit.h - the limits that a device reports
 */
#ifndef LIMIT_H
#define LIMIT_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/*
 * Whether the device can register size bytes, which -b asks for, as one region,
 * and its port move them in one request. Returns 0, or -1 after reporting why
 * not.
 */
int limit_check_bytes(struct ibv_context *verbs, uint8_t port_num, size_t size);

#endif
