/*
 * limit.c - the limits that a device reports
 */
#include "limit.h"

#include <inttypes.h>

#include "log.h"

static int check(size_t size, const char *what, uint64_t most)
{
	if (size <= most)
		return 0;
	return log_fail("-b %zu: the device %s at most %" PRIu64
			" bytes at a time; give both ends -b %" PRIu64
			" or less",
			size, what, most, most);
}

int limit_check_bytes(struct ibv_context *verbs, uint8_t port_num, size_t size)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	int err = ibv_query_device(verbs, &device);

	if (err)
		return log_fail_errno("ibv_query_device", err,
				      "its limits remain unknown");
	err = ibv_query_port(verbs, port_num, &port);
	if (err)
		return log_fail_errno("ibv_query_port", err,
				      "port %d; see `rdma link`", port_num);
	if (check(size, "registers", device.max_mr_size))
		return -1;
	return check(size, "writes or reads", port.max_msg_sz);
}
