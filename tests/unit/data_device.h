/*
 * data_device.h - a connection on the device of scripted.h, and its memory
 */
#ifndef DATA_DEVICE_H
#define DATA_DEVICE_H

#include "scripted.h"

#include "data.h"

static struct conn conn;
static struct data data;

/* As if nothing were posted. */
static inline void forget(void)
{
#if defined(CHAPTER_05)
	static struct device port = { .port_num = 2 };
#else
	static struct rdma_cm_id port = { .port_num = 2 };
#endif

	conn = (struct conn)
	{
		.pd = &pd, .cq = &cq, .qp = &qp,
#if defined(CHAPTER_05)
		.device = &port,
#else
		.id = &port,
#endif
	};
}

static inline void reset(void)
{
	dev_reset();
	forget();
	data = (struct data){ 0 };
}

#endif
