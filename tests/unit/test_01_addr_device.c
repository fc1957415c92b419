/*
 * test_01_addr_device.c - which of this machine's addresses will do
 */
#include "addr.h"

#include <string.h>

#include "scripted.h"

/* What is said when no device leads to host. */
static const char *explanation(const char *host)
{
	struct addrinfo *list;
	int ret;

	assert_int_equal(addr_lookup(host, "7", &list), 0);
	ret = CAPTURED(addr_explain_no_device(list->ai_addr));
	freeaddrinfo(list);
	assert_int_equal(ret, -1);
	assert_int_equal(dev.lists, 0);
	assert_int_equal(dev.opened, 0);
	return said.err;
}

/* The address that would do is the first that others can use. */
TEST(explain_loopback)
{
	struct fake closed = { .cannot_open = true };
	struct fake silent = { .ports = { [1] = { .gid_tbl_len = 0 } } };
	struct fake rxe = {
		.ports = { [1] = UP },
		.gids = { { 1, V2, "fe80::1" },
			  { 1, V1, "::ffff:198.51.100.9" },
			  {},
			  /* At the far end of the second port's table. */
			  { 2, V2, "::ffff:192.0.2.7" } },
	};

	rxe.ports[2] = rxe.ports[1];
	dev.devices[0] = &closed;
	dev.devices[1] = &silent;
	dev.devices[2] = &rxe;
	dev.device_count = 3;
	assert_one_line(explanation("127.0.0.1"), "error: 127.0.0.1: ");
	assert_one_line(said.err,
			"; use 192.0.2.7, which is also this machine's");
	assert_one_line(explanation("::1"), "error: ::1: a loopback address");
	assert_one_line(said.err, "; use 192.0.2.7, ");
}

TEST(explain_no_device)
{
	struct fake bare = {
		.ports = { [1] = UP },
		.gids = { { 1, V2, "fe80::1" } },
	};

	dev.devices[0] = &bare;
	for (dev.device_count = -1; dev.device_count <= 0; dev.device_count++)
		assert_one_line(explanation("127.0.0.1"),
				"and this machine has none; see `rdma link`");
	dev.device_count = 1;
	assert_one_line(explanation("127.0.0.1"),
			"none here is a RoCE device with an address");
}

/* A good host, whose addresses are no GIDs. */
TEST(explain_infiniband)
{
	struct fake ib = {
		.ports = { [1] = { .state = IBV_PORT_ACTIVE,
				   .link_layer = IBV_LINK_LAYER_INFINIBAND,
				   .gid_tbl_len = 1,
				   .lid = 7 } },
		.gids = { { 1, IBV_GID_TYPE_IB, "fe80::3" } },
	};

	dev.devices[0] = &ib;
	dev.device_count = 1;
	assert_one_line(explanation("192.0.2.1"),
			"error: 192.0.2.1: no RDMA device leads there");
	assert_one_line(said.err, "on InfiniBand the addresses are those of "
				  "IPoIB netdevs");
	assert_null(strstr(said.err, "has none"));
}
