/*
 * pump_device.h - a device for the pump of the benchmark, without a device
 *
 * It completes what was posted in order, a few operations at a time. The clock
 * and the peer are played here as well. For the tests of pump.c.
 */
#ifndef PUMP_DEVICE_H
#define PUMP_DEVICE_H

#include "pump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "stats.h"

/* The deepest queue. */
#define MAX 1024

/* What the device was asked for, and how it behaves. */
static struct fake {
	struct ibv_send_wr queue[MAX];
	unsigned int posted, taken; /* operations */
	unsigned int calls, longest, signalled; /* posts, the longest chain */
	unsigned int most; /* operations at a time */
	unsigned int polls, polled; /* polls, the most asked for in one */
	struct ibv_sge sge; /* of the last request */
	unsigned int ready; /* operations that it finishes per poll */
	unsigned int fails_at; /* this operation fails; 0: none */
	unsigned int refuses_at; /* posting this one fails; 0: none */
	unsigned int message_at; /* in this poll, a message comes; 0: none */
	bool broken; /* polling fails */
} fake;

static uint64_t clock_ns, clock_step;
static int peer_fds[2];
static char memory[256];

uint64_t stats_now(void)
{
	return clock_ns += clock_step;
}

int conn_peer_fd(const struct conn *conn)
{
	(void)conn;
	return peer_fds[0];
}

int conn_check_peer(struct conn *conn)
{
	(void)conn;
	fputs("the peer has left\n", stderr);
	return -1;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	unsigned int length = 0;

	(void)qp;
	for (; wr; wr = wr->next, length++) {
		if (fake.posted + 1 == fake.refuses_at) {
			*bad = wr;
			return ENOMEM;
		}
		fake.queue[fake.posted++ % MAX] = *wr;
		fake.sge = *wr->sg_list;
		fake.signalled += !!(wr->send_flags & IBV_SEND_SIGNALED);
	}
	fake.calls++;
	if (length > fake.longest)
		fake.longest = length;
	if (fake.posted - fake.taken > fake.most)
		fake.most = fake.posted - fake.taken;
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wcs)
{
	unsigned int ready = fake.ready;
	int n = 0;

	(void)cq;
	if (fake.broken)
		return -1;
	if (++fake.polls == fake.message_at) {
		*wcs = (struct ibv_wc){
			.wr_id = (uintptr_t)memory,
			.opcode = IBV_WC_RECV,
		};
		return 1;
	}
	if ((unsigned int)max > fake.polled)
		fake.polled = max;
	while (n < max && ready-- && fake.taken < fake.posted) {
		struct ibv_send_wr *wr = &fake.queue[fake.taken++ % MAX];
		bool fails = fake.taken == fake.fails_at;

		if (!fails && !(wr->send_flags & IBV_SEND_SIGNALED))
			continue;
		wcs[n++] = (struct ibv_wc){
			.wr_id = wr->wr_id,
			.status =
				fails ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS,
		};
	}
	return n;
}

static struct ibv_context context = {
	.ops = { .post_send = post_send, .poll_cq = poll_cq },
};
static struct ibv_qp qp = { .context = &context };
static struct ibv_cq cq = { .context = &context };
static struct ibv_mr mr = { .lkey = 7 };
static struct conn conn = {
	.patience = { .timeout_ms = 1000, .stop_fd = -1 },
	.qp = &qp,
	.cq = &cq,
};
static struct data data = { .conn = &conn,
			    .local = { .buf = memory, .mr = &mr } };
static struct pump pump;

static int open_peer(void **state)
{
	(void)state;
	return pipe(peer_fds);
}

static int close_peer(void **state)
{
	(void)state;
	return close(peer_fds[0]) || close(peer_fds[1]);
}

/* A device that works, and a pump that writes. */
static void reset(void)
{
	fake = (struct fake){ .ready = 5 };
	clock_ns = 0;
	clock_step = 1000;
	conn.max_inline = 64;
	data.local.size = 64;
	pump = (struct pump){
		.data = &data,
		.opcode = IBV_WR_RDMA_WRITE,
		.peer = { .addr = 0x1000, .rkey = 9, .length = 64 },
	};
}

static int run(unsigned int depth, unsigned int count, uint64_t *samples)
{
	int ret;

	ret = CAPTURED(pump_run(&pump, depth, count, samples));
	assert_string_equal(said.out, "");
	return ret;
}

#endif
