/*
 * network.c - what a network needs from a queue pair, as options say
 */
#include "network.h"

void network_ask(const struct network *network, struct ibv_qp_attr *attr)
{
	attr->pkey_index = network->pkey_index;
	attr->ah_attr.sl = network->service_level;
	attr->ah_attr.grh.traffic_class = network->traffic_class;
	if (network->ack_timeout)
		attr->timeout = network->ack_timeout;
	if (network->retry_count)
		attr->retry_cnt = network->retry_count;
}

enum ibv_mtu network_mtu(const struct network *network, enum ibv_mtu port)
{
	enum ibv_mtu most = network->mtu;

	return most && most < port ? most : port;
}
