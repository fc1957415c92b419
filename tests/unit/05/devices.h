/*
 * devices.h - chapter 05 has in device.h what the chapters before have here
 */
#ifndef DEVICES_H
#define DEVICES_H

#include "device.h"

#define devices_open_one device_open

#endif
