/*
 * test_05_device.c - chapter 05 has a device.c of its own, of which the same is
 * true
 */
#define OPENED(name, port) "Opened shared RDMA device: " name

#include "test_03_device.c"
