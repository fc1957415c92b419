/*
 * conn_port.h - how chapter 08's connection knows its port: from the CM
 */
#ifndef CONN_PORT_H
#define CONN_PORT_H

#include "conn.h"

static struct rdma_cm_id port_id = { .port_num = 2 };

#define CONN_PORT .id = &port_id

#endif
