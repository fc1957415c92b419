/*
 * test_01_addr_device.c - which of this machine's addresses will do
 *
 * The devices of this machine are played by functions of this file, which the
 * program's own linking puts before those of libibverbs.
 */
#include "addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include <cmocka.h>

#include "capture.h"

#define MAX_GIDS 4

/* One device: what its GID table holds, or that it cannot be opened. */
struct fake {
	struct ibv_device device;
	struct ibv_context context;
	bool cannot_open;
	int gids;
	struct {
		const char *address;
		enum ibv_gid_type type;
	} gid[MAX_GIDS];
};

static struct fake *fakes[3];
static int fake_count;
static int lists, opened;
static struct captured said;

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list;

	if (fake_count < 0) {
		errno = ENOSYS;
		return NULL;
	}
	list = calloc(fake_count + 1, sizeof(*list));
	for (int i = 0; list && i < fake_count; i++)
		list[i] = &fakes[i]->device;
	lists++;
	*count = fake_count;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
	lists--;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake *fake = (struct fake *)device;

	if (fake->cannot_open)
		return NULL;
	opened++;
	return &fake->context;
}

int ibv_close_device(struct ibv_context *context)
{
	(void)context;
	opened--;
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	struct fake *fake = (struct fake *)((char *)context -
					    offsetof(struct fake, context));

	(void)flags;
	if (fake->gids < 0)
		return fake->gids;
	if (max < (size_t)fake->gids || size != sizeof(*entries))
		return -EINVAL;
	for (int i = 0; i < fake->gids; i++) {
		entries[i].gid_type = fake->gid[i].type;
		inet_pton(AF_INET6, fake->gid[i].address, entries[i].gid.raw);
	}
	return fake->gids;
}

/* What is said when no device leads to host. */
static const char *explanation(const char *host)
{
	struct addrinfo *list;
	int ret;

	assert_int_equal(addr_lookup(host, "7", &list), 0);
	capture_start();
	ret = addr_explain_no_device(list->ai_addr);
	capture_stop(&said);
	freeaddrinfo(list);
	assert_int_equal(ret, -1);
	assert_int_equal(lists, 0);
	assert_int_equal(opened, 0);
	return said.err;
}

/* The address that would do is the first that others can use. */
static void test_explain_loopback(void **state)
{
	struct fake closed = { .cannot_open = true };
	struct fake silent = { .gids = -EOPNOTSUPP };
	struct fake rxe = {
		.gids = 3,
		.gid = { { "fe80::1", IBV_GID_TYPE_ROCE_V2 },
			 { "::ffff:198.51.100.9", IBV_GID_TYPE_ROCE_V1 },
			 { "::ffff:192.0.2.7", IBV_GID_TYPE_ROCE_V2 } },
	};

	(void)state;
	fakes[0] = &closed;
	fakes[1] = &silent;
	fakes[2] = &rxe;
	fake_count = 3;
	assert_one_line(explanation("127.0.0.1"), "error: 127.0.0.1: ");
	assert_one_line(said.err, "; 192.0.2.7, this machine's own too");
	assert_one_line(explanation("::1"), "error: ::1: a loopback address");
	assert_one_line(said.err, "; 192.0.2.7, ");
}

static void test_explain_ipv6_only(void **state)
{
	struct fake rxe = {
		.gids = 2,
		.gid = { { "fe80::1", IBV_GID_TYPE_ROCE_V2 },
			 { "2001:db8::7", IBV_GID_TYPE_ROCE_V2 } },
	};

	(void)state;
	fakes[0] = &rxe;
	fake_count = 1;
	assert_one_line(explanation("127.0.0.1"), "; 2001:db8::7, ");
}

static void test_explain_other_route(void **state)
{
	struct fake rxe = {
		.gids = 1,
		.gid = { { "::ffff:192.0.2.7", IBV_GID_TYPE_ROCE_V2 } },
	};

	(void)state;
	fakes[0] = &rxe;
	fake_count = 1;
	assert_one_line(explanation("198.51.100.1"),
			"error: 198.51.100.1: no RDMA device leads there");
	assert_one_line(said.err, "ip route get 198.51.100.1");
	assert_null(strstr(said.err, "loopback"));
}

static void test_explain_no_device(void **state)
{
	struct fake bare = {
		.gids = 1,
		.gid = { { "fe80::1", IBV_GID_TYPE_ROCE_V2 } },
	};

	(void)state;
	for (fake_count = -1; fake_count <= 1; fake_count++) {
		fakes[0] = &bare;
		assert_one_line(explanation("127.0.0.1"), "rdma link");
		assert_one_line(said.err,
				"none on this machine has an address");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explain_loopback),
		cmocka_unit_test(test_explain_ipv6_only),
		cmocka_unit_test(test_explain_other_route),
		cmocka_unit_test(test_explain_no_device),
	};

	return cmocka_run_group_tests_name("01_addr_device", tests, NULL, NULL);
}
