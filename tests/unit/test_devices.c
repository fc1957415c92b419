/*
 * test_devices.c - a server's devices, and which of them a client comes by
 */
#include "devices.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "addr.h"
#include "fake_hosts.h"

static const struct options any = { .gid_index = -1 };
static struct devices devices;

/* Opens all devices for a server on the address local, or on all. */
static int open_all_for(const char *local)
{
	struct addrinfo *list = NULL;
	int ret;

	if (local)
		assert_int_equal(addr_lookup(local, "7", &list), 0);
	devices = (struct devices){ 0 };
	ret = CAPTURED(
		devices_open(&devices, &any, local ? list->ai_addr : NULL));
	if (list)
		freeaddrinfo(list);
	return ret;
}

/* Which of them a client reaches at the address local; "" if none. */
static const char *found(const char *local)
{
	const struct device *of;
	struct addrinfo *list;

	assert_int_equal(addr_lookup(local, "7", &list), 0);
	of = CAPTURED(devices_find(&devices, list->ai_addr));
	freeaddrinfo(list);
	assert_int_equal(said.err_length == 0, of != NULL);
	return of ? of->verbs->device->name : "";
}

/* A server has clients by all of its devices, whichever is the first. */
TEST(each_by_its_own)
{
	for (int turn = 0; turn < 2; turn++) {
		use(turn ? &card : &rxe0, turn ? &rxe0 : &card);
		fakes[2] = &ib;
		fake_count = 3;
		assert_int_equal(open_all_for(NULL), 0);
		assert_int_equal(devices.count, 3);
		assert_string_equal(found("192.0.2.1"), "rxe0");
		assert_string_equal(found("198.51.100.2"), "card1");
		/* Of nobody: it may be that of an IPoIB netdev. */
		assert_string_equal(found("203.0.113.1"), "ib0");
		devices_close(&devices);
		fake_count = 2;
		assert_int_equal(open_all_for(NULL), 0);
		assert_string_equal(found("203.0.113.1"), "");
		assert_one_line(said.err, "no RDMA device leads there");
		devices_close(&devices);
		assert_int_equal(open_all_for("198.51.100.2"), 0);
		assert_int_equal(devices.count, 1);
		assert_string_equal(found("198.51.100.2"), "card1");
		devices_close(&devices);
	}
	assert_int_equal(opened, 0);
	assert_int_equal(lists, 0);
}

/* Two ports of one card; and an address that comes while a server runs. */
TEST(ports_as_they_are_now)
{
	struct fake two = {
		.device.name = "card2",
		.ports = { [1] = UP, [2] = UP },
		.gids = { { 1, V2, "::ffff:192.0.2.1" } },
	};

	use(&two, NULL);
	assert_int_equal(open_all_for(NULL), 0);
	assert_int_equal(devices.count, 2);
	assert_string_equal(found("192.0.2.2"), "");
	two.gids[1] = (struct fake_gid){ 2, V2, "::ffff:192.0.2.2", 0 };
	assert_string_equal(found("192.0.2.2"), "card2");
	two.ports[2].state = IBV_PORT_DOWN;
	assert_string_equal(found("192.0.2.2"), "");
	devices_close(&devices);
	assert_int_equal(opened, 0);
}
