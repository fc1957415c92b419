/*
 * test_01_region.c - memory is nobody's secret, and stays as long as the device may use it
 */
#include "rdma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static struct ibv_mr mr;
static int refuses; /* the errno of deregistering; 0: it works */
static const char holds[] = "what the device has written";

/* verbs.h has a macro of this name, which calls one of two functions. */
#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *buf, size_t size,
				uint64_t iova, unsigned int access)
{
	(void)pd;
	(void)iova;
	assert_int_equal(access, IBV_ACCESS_LOCAL_WRITE);
	mr = (struct ibv_mr){ .addr = buf, .length = size };
	return &mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *buf, size_t size, int access)
{
	return ibv_reg_mr_iova2(pd, buf, size, (uintptr_t)buf, access);
}

int ibv_dereg_mr(struct ibv_mr *one)
{
	/* Memory that has been freed would be other memory. */
	assert_memory_equal(one->addr, holds, sizeof(holds));
	return refuses;
}

TEST(memory)
{
	struct conn conn = { 0 };
	struct region region = { 0 };

	assert_int_equal(
		region_open(&region, &conn, 1024, IBV_ACCESS_LOCAL_WRITE), 0);
	for (int i = 0; i < 1024; i++)
		assert_int_equal(((char *)region.buf)[i], 0);
	memcpy(region.buf, holds, sizeof(holds));
	/* What the device may still write to must not become somebody else's. */
	refuses = EBUSY;
	CAPTURE(region_close(&region));
	assert_one_line(said.err, "error: ibv_dereg_mr: Device or resource "
				  "busy; its memory is not freed");
	refuses = 0;
	CAPTURE(region_close(&region));
	assert_string_equal(said.err, "");
	assert_null(region.buf);
}
