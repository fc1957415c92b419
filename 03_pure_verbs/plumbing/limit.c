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
