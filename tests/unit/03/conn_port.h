/*
 * conn_port.h - how chapter 03's connection knows its port: from its device
 */
#ifndef CONN_PORT_H
#define CONN_PORT_H

#include "conn.h"

static struct device port_device = { .port_num = 2 };

#define CONN_PORT .device = &port_device

#endif
