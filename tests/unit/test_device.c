/*
 * test_device.c - which device, which port of it, which GID of the port; and by which
 * of a server's devices a client comes
 */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "devices.h"
#include "scripted.h"

/* The table of a fresh rxe device, and of one with RoCE v1, too. */
static struct fake rxe0 = {
	.device.name = "rxe0",
	.ports = { [1] = UP },
	.gids = { { 1, V2, "fe80::1" },
		  { 1, V2, "::ffff:192.0.2.1" },
		  { 1, V2, "2001:db8::1" } },
};
static struct fake card = {
	.device.name = "card1",
	.ports = { [2] = UP },
	.gids = { { 2, V1, "fe80::2" },
		  { 2, V2, "fe80::2" },
		  { 2, V1, "::ffff:198.51.100.2" },
		  { 1, V2, "::ffff:198.51.100.2" },
		  { 2, V2, "::ffff:198.51.100.2" } },
};
static struct fake ib = {
	.device.name = "ib0",
	.ports = { [1] = { .state = IBV_PORT_ACTIVE,
			   .link_layer = IBV_LINK_LAYER_INFINIBAND,
			   .lid = 7 } },
	.gids = { { 1, IBV_GID_TYPE_IB, "fe80::3" } },
};

/* Ethernet as well, and with the address in its table, but not RoCE. */
static struct fake iwarp = {
	.device = { .name = "siw0", .transport_type = IBV_TRANSPORT_IWARP },
	.ports = { [1] = UP },
	.gids = { { 1, V2, "::ffff:192.0.2.1" } },
};

static struct device device;

/* Opens the device for options and, unless NULL, the address local. */
static int open_for(const struct options *options, const char *local)
{
	struct addrinfo *list = NULL;
	int ret;

	if (local)
		assert_int_equal(addr_lookup(local, "7", &list), 0);
	device = (struct device){ 0 };
	ret = CAPTURED(devices_open_one(&device, options,
					local ? list->ai_addr : NULL));
	if (list)
		freeaddrinfo(list);
	return ret;
}

static void assert_opened(const struct options *options, const char *local,
			  const char *line)
{
	int ret = open_for(options, local);

	assert_string_equal(said.err, "");
	assert_int_equal(ret, 0);
	assert_one_line(said.out, line);
	device_close(&device);
	assert_int_equal(dev.opened, 0);
	assert_int_equal(dev.lists, 0);
}

static void assert_none(const struct options *options, const char *local,
			const char *reason)
{
	int ret = open_for(options, local);

	device_close(&device);
	assert_int_equal(ret, -1);
	assert_string_equal(said.out, "");
	assert_one_line(said.err, reason);
	assert_int_equal(dev.opened, 0);
	assert_int_equal(dev.lists, 0);
}

static const struct options any = { .gid_index = -1 };

TEST(device_of_the_address)
{
	use(&rxe0, &card);
	assert_opened(&any, "192.0.2.1", "Opened RDMA device: rxe0, port 1");
	assert_opened(&any, "2001:db8::1", "Opened RDMA device: rxe0, port 1");
	assert_opened(&any, "198.51.100.2",
		      "Opened RDMA device: card1, port 2");
	assert_none(&any, "203.0.113.1", "no RDMA device leads there");
	assert_none(&any, "127.0.0.1", "a loopback address");
}

TEST(by_hand)
{
	struct options options = any;

	use(&rxe0, &card);
	options.device = "card1";
	assert_opened(&options, NULL, "Opened RDMA device: card1, port 2");
	assert_none(&options, "192.0.2.1", "card1");
	options.port_num = 1;
	assert_none(&options, NULL,
		    "there is no such active port of RoCE or InfiniBand here");
	options.port_num = 2;
	assert_opened(&options, NULL, "Opened RDMA device: card1, port 2");
	/* With -g, the reader answers for the address. */
	options = (struct options){ .gid_index = 0, .device = "card1" };
	assert_opened(&options, "192.0.2.1",
		      "Opened RDMA device: card1, port 2");
}

TEST(none_will_do)
{
	struct fake down = { .device.name = "rxe0" };
	struct fake closed = rxe0;

	use(NULL, NULL);
	assert_none(&any, NULL, "this machine has no RDMA device");
	dev.device_count = -1;
	assert_none(&any, NULL,
		    "ibv_get_device_list: Function not implemented");
	use(&down, NULL);
	assert_none(&any, NULL, "may open has an active port");
	closed.cannot_open = true;
	use(&closed, NULL);
	assert_none(&any, NULL, "may open has an active port");
	use(&closed, &rxe0);
	assert_opened(&any, "192.0.2.1", "Opened RDMA device: rxe0, port 1");
}

/* What device_source() finds on the only device; its index, or -1. */
static int source_of(struct fake *fake, int gid_index, const char *local,
		     struct source *source)
{
	struct options options = { .gid_index = gid_index };
	struct addrinfo *list;
	int ret;

	use(fake, NULL);
	assert_int_equal(open_for(&options, NULL), 0);
	assert_int_equal(addr_lookup(local, "7", &list), 0);
	ret = CAPTURED(device_source(&device, list->ai_addr, source));
	freeaddrinfo(list);
	device_close(&device);
	return ret ? -1 : source->gid_index;
}

static void assert_gid(const struct source *source, const char *address)
{
	union ibv_gid gid;

	assert_int_equal(inet_pton(AF_INET6, address, gid.raw), 1);
	assert_memory_equal(&source->gid, &gid, sizeof(gid));
}

/* Never index 0 by habit: the v2 entry of this port with this address. */
TEST(gid_of_the_address)
{
	/* Addresses that were taken away leave holes in the table. */
	struct fake holes = {
		.ports = { [1] = UP },
		.gids = { [3] = { 1, V2, "2001:db8::1" } },
	};
	struct source source;

	assert_int_equal(source_of(&holes, -1, "2001:db8::1", &source), 3);
	assert_int_equal(source_of(&rxe0, -1, "192.0.2.1", &source), 1);
	assert_gid(&source, "::ffff:192.0.2.1");
	assert_int_equal(source_of(&rxe0, -1, "2001:db8::1", &source), 2);
	assert_gid(&source, "2001:db8::1");
	assert_int_equal(source_of(&rxe0, -1, "fe80::1", &source), 0);
	assert_int_equal(source_of(&card, -1, "198.51.100.2", &source), 4);
	assert_int_equal(source_of(&rxe0, -1, "192.0.2.2", &source), -1);
	assert_one_line(said.err, "error: 192.0.2.2: no RDMA device leads");
}

TEST(infiniband)
{
	struct source source;

	/* The address is of TCP alone: no GID needs to be it. */
	assert_int_equal(source_of(&ib, -1, "192.0.2.1", &source), 0);
	assert_gid(&source, "fe80::3");
	assert_int_equal(source.port.lid, 7);
	use(&ib, NULL);
	assert_int_equal(open_for(&any, "192.0.2.1"), 0);
	assert_false(device_is_roce(&device));
	device_close(&device);
	use(&rxe0, NULL);
	assert_int_equal(open_for(&any, NULL), 0);
	assert_true(device_is_roce(&device));
	device_close(&device);
}

TEST(iwarp_is_no_roce)
{
	struct options options = { .gid_index = -1, .device = "siw0" };

	use(&iwarp, NULL);
	assert_none(&any, NULL, "siw0 is an iWARP device, whose queue pairs");
	assert_none(&any, "192.0.2.1", "use chapter 01, 02 or 07, or RoCE");
	assert_none(&options, NULL, "siw0 is an iWARP device");
	use(&iwarp, &rxe0);
	assert_opened(&any, "192.0.2.1", "Opened RDMA device: rxe0, port 1");
	assert_none(&any, "203.0.113.1", "no RDMA device leads there");
	assert_none(&options, "192.0.2.1", "siw0 is an iWARP device");
}

/* InfiniBand cannot say whose address it is: so RoCE is asked first. */
TEST(exact_before_infiniband)
{
	use(&ib, &rxe0);
	assert_opened(&any, "192.0.2.1", "Opened RDMA device: rxe0, port 1");
	assert_opened(&any, "198.51.100.9", "Opened RDMA device: ib0, port 1");
	use(&rxe0, &ib);
	assert_opened(&any, "192.0.2.1", "Opened RDMA device: rxe0, port 1");
	assert_opened(&any, "198.51.100.9", "Opened RDMA device: ib0, port 1");
}

/* More than the device can would be refused, or be taken for less. */
static void assert_reads(int in, int out, int want_in, int want_out)
{
	use(&ib, NULL);
	ib.reads_in = in;
	ib.reads_out = out;
	assert_int_equal(open_for(&any, "192.0.2.1"), 0);
	assert_int_equal(device.reads_in, want_in);
	assert_int_equal(device.reads_out, want_out);
	device_close(&device);
}

TEST(reads)
{
	assert_reads(128, 128, DEVICES_READS, DEVICES_READS);
	assert_reads(4, 1, 4, 1);
	assert_reads(1, 300, 1, DEVICES_READS);
}

/* A subnet manager gives another LID while the device is open. */
TEST(port_is_asked_again)
{
	struct addrinfo *list;
	struct source source;

	use(&ib, NULL);
	assert_int_equal(open_for(&any, "192.0.2.1"), 0);
	ib.ports[1].lid = 9;
	assert_int_equal(addr_lookup("192.0.2.1", "7", &list), 0);
	assert_int_equal(device_source(&device, list->ai_addr, &source), 0);
	freeaddrinfo(list);
	assert_int_equal(source.port.lid, 9);
	ib.ports[1].lid = 7;
	device_close(&device);
}

/* A VLAN has the link-local address of the netdev below it: the scope decides. */
TEST(link_local)
{
	struct fake vlan = {
		.ports[1] = UP,
		.gids = { { 1, V1, "fe80::1", 3 },
			  { 1, V2, "fe80::1", 2 },
			  { 1, V2, "fe80::1", 3 },
			  { 1, V2, "fe80::2", 0 } },
	};
	struct sockaddr_in6 local = { .sin6_family = AF_INET6 };
	struct sockaddr *addr = (struct sockaddr *)&local;
	struct source source;

	use(&vlan, NULL);
	assert_int_equal(open_for(&any, NULL), 0);
	inet_pton(AF_INET6, "fe80::1", &local.sin6_addr);
	local.sin6_scope_id = 3;
	assert_int_equal(device_source(&device, addr, &source), 0);
	assert_int_equal(source.gid_index, 2);
	local.sin6_scope_id = 2;
	assert_int_equal(device_source(&device, addr, &source), 0);
	assert_int_equal(source.gid_index, 1);
	inet_pton(AF_INET6, "fe80::2", &local.sin6_addr);
	assert_int_equal(device_source(&device, addr, &source), 0);
	assert_int_equal(source.gid_index, 3);
	device_close(&device);
}

/* -M: no more than is asked for, and no more than the port has. */
TEST(mtu)
{
	struct options options = any;
	struct addrinfo *list;
	struct source source;

	use(&rxe0, NULL);
	rxe0.ports[1].active_mtu = IBV_MTU_1024;
	assert_int_equal(addr_lookup("192.0.2.1", "7", &list), 0);
	for (int mtu = 0; mtu <= IBV_MTU_4096; mtu++) {
		options.network.mtu = mtu;
		assert_int_equal(open_for(&options, "192.0.2.1"), 0);
		assert_int_equal(device_source(&device, list->ai_addr, &source),
				 0);
		assert_int_equal(source.port.active_mtu,
				 mtu && mtu < IBV_MTU_1024 ? mtu :
							     IBV_MTU_1024);
		device_close(&device);
	}
	freeaddrinfo(list);
}

/* --- a server, which has all of them open */

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
	assert_int_equal(dev.opened, 0);
}
