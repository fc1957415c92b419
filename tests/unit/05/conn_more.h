/*
 * conn_more.h - chapter 05's connections have a device, which counts what they make
 */
#ifndef CONN_MORE_H
#define CONN_MORE_H

#include "device.h"

static struct device device;

#define CONN_MORE .device = &device

#endif
