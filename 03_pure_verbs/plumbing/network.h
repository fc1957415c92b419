/*
 * network.h - what a network needs from a queue pair, as options say
 *
 * The CM asks a subnet manager, or takes the host's settings. Here, options say
 * it. Most networks need none of it, and every member is 0.
 */
#ifndef NETWORK_H
#define NETWORK_H

#include <infiniband/verbs.h>

struct network {
	int service_level; /* InfiniBand: which lane the traffic takes */
	int traffic_class; /* a byte of the IP header: DSCP, and ECN's two bits */
	int pkey_index; /* the partition, as an index of the port's table */
	int mtu; /* the most data in a packet, as enum ibv_mtu; 0: the port's */
	int ack_timeout; /* as in struct ibv_qp_attr; 0: the chapter's */
	int retry_count; /* as in struct ibv_qp_attr; 0: the chapter's */
};

/* Puts what options ask for into *attr; each transition uses a part. */
void network_ask(const struct network *network, struct ibv_qp_attr *attr);

/* The smaller of the port's MTU and the one that options ask for. */
enum ibv_mtu network_mtu(const struct network *network, enum ibv_mtu port);

#endif
