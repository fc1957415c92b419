/*
 * limit.h - what the device says that it can do
 */
#ifndef LIMIT_H
#define LIMIT_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/*
 * Whether the device can register size bytes at a time. Returns 0, or -1 having
 * said why not.
 */
int limit_check_region(struct ibv_context *verbs, size_t size);

/*
 * Asks how many bytes one request of the port can take, and writes that to
 * *bytes. Returns 0, or -1 having said why not.
 */
int limit_ask_message(struct ibv_context *verbs, int port_num, uint32_t *bytes);

#endif
