/*
 * network.h - what a network needs from a queue pair, as options say
 *
 * The CM asks a subnet manager, or takes the host's settings. Here, options say
 * it. Most networks need none of it.
 */
#ifndef NETWORK_H
#define NETWORK_H

#include <infiniband/verbs.h>

struct network {
	const char *device; /* NULL: the first that fits */
	int port_num; /* of the device; 0: the first active one */
	int gid_index; /* -1: the one for the address in use */
	int psn; /* of our first packet; -1: a random one */
	int service_level; /* InfiniBand: which lane the traffic takes */
	int traffic_class; /* a byte of the IP header: DSCP, and ECN's two bits */
	int pkey_index; /* the partition, as an index of the port's table */
	int mtu; /* the most data in a packet, as enum ibv_mtu; 0: the port's */
	int ack_timeout; /* as in struct ibv_qp_attr; 0: the chapter's */
	int retry_count; /* as in struct ibv_qp_attr; 0: the chapter's */
};

/* What it is if no options are given. */
#define NETWORK_DEFAULT                    \
	{                                  \
		.gid_index = -1, .psn = -1 \
	}

/* Rows of a table of options (options.h), whose values go to network. */
/* clang-format off */
#define NETWORK_OPTIONS(network) \
	{ 'd', "device", "DEVICE", "RDMA device", \
	  .text = &(network).device, \
	  .otherwise = "the first that has the address in use and an active port" }, \
	{ 'i', "ib-port", "NUMBER", "port of the device", \
	  .number = &(network).port_num, .min = 1, .max = 255, \
	  .otherwise = "the first active one" }, \
	{ 'g', "gid-index", "INDEX", "GID of the port", \
	  .number = &(network).gid_index, .max = 255, \
	  .otherwise = "on RoCE the v2 GID of the address in use; else 0" }, \
	{ 'P', "psn", "PSN", "first packet sequence number", \
	  .number = &(network).psn, .max = 0xffffff, .hex = true, \
	  .otherwise = "a random one" }, \
	{ 'S', "service-level", "LEVEL", \
	  "the service level of our packets, on InfiniBand", \
	  .number = &(network).service_level, .max = 15 }, \
	{ 'Q', "traffic-class", "BYTE", \
	  "the quality of service of our packets: 4 times the DSCP", \
	  .number = &(network).traffic_class, .max = 255 }, \
	{ 'I', "pkey-index", "INDEX", \
	  "the partition, in the port's table of P_Keys", \
	  .number = &(network).pkey_index, .max = 65535 }, \
	{ 'M', "mtu", "port|256|512|1024|2048|4096", \
	  "the most data in a packet; the smaller value of the two ends counts", \
	  .word = &(network).mtu }, \
	{ 'E', "ack-timeout", "EXPONENT", \
	  "wait 4.096 us times 2 to this power for an acknowledgement", \
	  .number = &(network).ack_timeout, .min = 1, .max = 31, \
	  .otherwise = "14, which is 67 ms" }, \
	{ 'N', "retry-count", "COUNT", \
	  "send a packet again up to COUNT times; 7 means for ever on rxe", \
	  .number = &(network).retry_count, .min = 1, .max = 7, \
	  .otherwise = "6" }
/* clang-format on */

/* Puts what options ask for into *attr; each transition uses a part. */
void network_ask(const struct network *network, struct ibv_qp_attr *attr);

/* The smaller of the port's MTU and the one that options ask for. */
enum ibv_mtu network_mtu(const struct network *network, enum ibv_mtu port);

#endif
