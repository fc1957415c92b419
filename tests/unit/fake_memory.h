/*
 * fake_memory.h - a device that only notes which memory it may use, and how
 *
 * For one test program: what is not played for libibverbs is static. Include it
 * after cmocka.h.
 */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "data.h"

#if __has_include("conn_port.h")
#include "conn_port.h"
#endif

#define MOST 8

/* One registration; the device may use the memory until gone. */
struct registered {
	struct ibv_mr mr;
	int access;
	int gone; /* the how manieth it was to go, from 1 */
};

static struct registered all[MOST];
static int count, gone;
static int refuses = -1; /* this registration fails */
static int keeps = -1; /* this one cannot be taken back */
static uint32_t port_takes; /* so many bytes in one request */

static struct ibv_mr *note(void *buf, size_t size, int access)
{
	struct registered *registered = &all[count];

	assert_true(count < MOST);
	if (count == refuses) {
		errno = ENOMEM;
		return NULL;
	}
	*registered = (struct registered){
		.mr = { .addr = buf,
			.length = size,
			.lkey = 0x100 + count,
			.rkey = 0x200 + count },
		.access = access,
	};
	count++;
	return &registered->mr;
}

/* verbs.h has a macro of this name, which calls one of the two functions. */
#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *buf, size_t size, int access)
{
	(void)pd;
	return note(buf, size, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *buf, size_t size,
				uint64_t iova, unsigned int access)
{
	(void)pd;
	assert_true(iova == (uintptr_t)buf);
	return note(buf, size, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct registered *registered = (struct registered *)mr;
	const char *bytes = mr->addr;

	if (registered == &all[0] + keeps)
		return EBUSY;
	assert_int_equal(registered->gone, 0);
	/* Freed already? Then a sanitizer ends the test here. */
	assert_true(bytes[0] || !bytes[0]);
	registered->gone = ++gone;
	return 0;
}

/* The most that this device registers at a time. */
#define MOST_BYTES 5000

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	*attr = (struct ibv_device_attr){ .max_mr_size = MOST_BYTES };
	return 0;
}

/* verbs.h has a macro of this name, which calls the function. */
#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *attr)
{
	(void)context;
	assert_int_equal(port_num, 2);
	*(struct ibv_port_attr *)attr = (struct ibv_port_attr){
		.max_msg_sz = port_takes,
	};
	return 0;
}

static int req_notify(struct ibv_cq *cq, int solicited)
{
	(void)cq;
	(void)solicited;
	return 0;
}

static struct ibv_send_wr sent;
static struct ibv_sge sge;
static int posted;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	(void)qp;
	(void)bad;
	sent = *wr;
	sge = *wr->sg_list;
	posted++;
	return 0;
}

static struct ibv_device memory_device;
static struct ibv_context context = {
	.device = &memory_device,
	.ops = { .req_notify_cq = req_notify, .post_send = post_send },
};
static struct ibv_cq cq = { .context = &context };
static struct ibv_qp qp = { .context = &context };
static struct ibv_pd pd = { .context = &context };
static struct conn conn;
static struct data data;

/* As if nothing were posted. */
static void forget(void)
{
	conn = (struct conn){
		.pd = &pd,
		.cq = &cq,
		.qp = &qp,
#ifdef CONN_PORT
		CONN_PORT,
#endif
	};
}

/* Nothing is registered, and all that is asked for works. */
static void reset(void)
{
	memset(all, 0, sizeof(all));
	count = gone = posted = 0;
	refuses = keeps = -1;
	port_takes = UINT32_MAX;
	forget();
	data = (struct data){ 0 };
}

#endif
