/*
 * fake_hosts.h - some devices that a host may have, for fake_devices.h
 */
#ifndef FAKE_HOSTS_H
#define FAKE_HOSTS_H

#include "fake_devices.h"

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
__attribute__((unused)) static struct fake iwarp = {
	.device = { .name = "siw0", .transport_type = IBV_TRANSPORT_IWARP },
	.ports = { [1] = UP },
	.gids = { { 1, V2, "::ffff:192.0.2.1" } },
};

static void use(struct fake *first, struct fake *second)
{
	fakes[0] = first;
	fakes[1] = second;
	fake_count = second ? 2 : first ? 1 : 0;
}

#endif
