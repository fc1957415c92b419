/*
 * limit.c - what the device says that it can do
 */
#include "limit.h"

#include <inttypes.h>

#include "log.h"

int limit_check_region(struct ibv_context *verbs, size_t size)
{
	struct ibv_device_attr attr;
	int err = ibv_query_device(verbs, &attr);

	if (err)
		return log_fail_errno("ibv_query_device", err,
				      "its limits stay unknown");
	if (size > attr.max_mr_size)
		return log_fail("-b %zu: the device registers at most %" PRIu64
				" bytes at a time",
				size, attr.max_mr_size);
	return 0;
}

int limit_ask_message(struct ibv_context *verbs, int port_num, uint32_t *bytes)
{
	struct ibv_port_attr port;
	int err = ibv_query_port(verbs, port_num, &port);

	if (err)
		return log_fail_errno("ibv_query_port", err,
				      "port %d; see `rdma link`", port_num);
	*bytes = port.max_msg_sz;
	return 0;
}
