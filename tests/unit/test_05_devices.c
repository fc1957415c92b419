/*
 * test_05_devices.c - chapter 05 has a device.c of its own, of which the same is
 * true
 */
#include "test_03_devices.c"
