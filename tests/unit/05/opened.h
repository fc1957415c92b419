/*
 * opened.h - what chapter 05 says of a device that it has opened
 */
#ifndef OPENED_H
#define OPENED_H

#define OPENED(name, port) "Opened shared RDMA device: " name

#endif
