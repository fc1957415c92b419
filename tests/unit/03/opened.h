/*
 * opened.h - what chapter 03 says of a device that it has opened
 */
#ifndef OPENED_H
#define OPENED_H

#define OPENED(name, port) "Opened RDMA device: " name ", port " port

#endif
