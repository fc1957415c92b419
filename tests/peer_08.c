/*
 * peer_08.c - a client of chapter 08 that keeps to its protocol but for one thing
 *
 *   peer_08 SERVER hold N RNR  N connections, 7 messages on each, no receive for the
 *                              echoes, and RNR as rnr_retry_count; says when the
 *                              server has ended all, and stays until killed
 *   peer_08 SERVER seven N     N messages, always 7 of them without an echo: it
 *                              keeps to the protocol in everything
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

#define BYTES 64
#define DIE(...) \
	(fprintf(stderr, __VA_ARGS__), fprintf(stderr, ": %m\n"), exit(1))

struct c {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char *buf; /* 0: sends; 4096: receives */
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int want(struct c *c, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;
	int ok;

	if (rdma_get_cm_event(c->ch, &e))
		DIE("get_cm_event");
	ok = e->event == type;
	if (!ok)
		fprintf(stderr, "%s (%d) instead of %s\n",
			rdma_event_str(e->event), e->status,
			rdma_event_str(type));
	rdma_ack_cm_event(e);
	return ok ? 0 : -1;
}

static void post_recv(struct c *c, int slot)
{
	struct ibv_sge s = { (uintptr_t)c->buf + 4096 + slot * 64, 64,
			     c->mr->lkey };
	struct ibv_recv_wr *bad,
		wr = { .wr_id = slot, .sg_list = &s, .num_sge = 1 };
	if (ibv_post_recv(c->id->qp, &wr, &bad))
		DIE("post_recv");
}

static void post_send(struct c *c, int slot)
{
	struct ibv_sge s = { (uintptr_t)c->buf + slot * 128, BYTES,
			     c->mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = 1000 + slot,
					.sg_list = &s,
					.num_sge = 1,
					.opcode = IBV_WR_SEND,
					.send_flags = IBV_SEND_SIGNALED };
	if (ibv_post_send(c->id->qp, &wr, &bad))
		DIE("post_send");
}

/* Waits for a completion; spins, but not for ever. */
static struct ibv_wc wait_wc(struct c *c, double seconds)
{
	struct ibv_wc wc = { 0 };
	double until = now() + seconds;
	while (!ibv_poll_cq(c->cq, 1, &wc)) {
		if (now() > until) {
			wc.status = 999;
			return wc;
		}
		usleep(200);
	}
	return wc;
}

static int open_c(struct c *c, const char *server, const char *from, int rnr)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(20886) };
	struct sockaddr_in src = { .sin_family = AF_INET };
	struct rdma_conn_param param = { .retry_count = 6,
					 .rnr_retry_count = rnr };
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC,
				      .cap = { 32, 32, 2, 1, 0 } };

	inet_pton(AF_INET, server, &to.sin_addr);
	if (from)
		inet_pton(AF_INET, from, &src.sin_addr);
	c->ch = rdma_create_event_channel();
	if (!c->ch || rdma_create_id(c->ch, &c->id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(c->id, from ? (void *)&src : NULL, (void *)&to,
			      2000) ||
	    want(c, RDMA_CM_EVENT_ADDR_RESOLVED) ||
	    rdma_resolve_route(c->id, 2000) ||
	    want(c, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return -1;
	c->pd = ibv_alloc_pd(c->id->verbs);
	c->cq = ibv_create_cq(c->id->verbs, 64, NULL, NULL, 0);
	a.send_cq = a.recv_cq = c->cq;
	if (rdma_create_qp(c->id, c->pd, &a))
		return -1;
	c->buf = aligned_alloc(4096, 8192);
	memset(c->buf, 0, 8192);
	c->mr = ibv_reg_mr(c->pd, c->buf, 8192, 1);
	if (rdma_connect(c->id, &param))
		return -1;
	return 0;
}

static int hold(const char *server, int n, int rnr)
{
	struct c **all = calloc(n, sizeof(*all));
	int made = 0, ended = 0;

	for (int i = 0; i < n; i++) {
		struct c *c = calloc(1, sizeof(*c));

		if (open_c(c, server, NULL, rnr) ||
		    want(c, RDMA_CM_EVENT_ESTABLISHED))
			continue;
		all[made++] = c;
		for (int k = 0; k < 7; k++)
			post_send(c, k);
	}
	printf("%d of %d connections hold\n", made, n);
	fflush(stdout);
	for (int i = 0; i < made; i++)
		ended += !want(all[i], RDMA_CM_EVENT_DISCONNECTED);
	printf("%d were sent away\n", ended);
	fflush(stdout);
	pause();
	return 0;
}

static int seven(const char *server, int n)
{
	struct c c = { 0 };
	int asked = 0, answered = 0;
	double begin;
	if (open_c(&c, server, NULL, 0) || want(&c, RDMA_CM_EVENT_ESTABLISHED))
		return 1;
	begin = now();
	for (int i = 0; i < 8; i++)
		post_recv(&c, i);
	for (; asked < 7; asked++)
		post_send(&c, asked);
	while (answered < n) {
		struct ibv_wc wc = wait_wc(&c, 30);
		if (wc.status) {
			printf("after %d echoes, with %d messages without one: status %d (%s)\n",
			       answered, asked - answered, wc.status,
			       wc.status == 999 ? "none came" :
						  ibv_wc_status_str(wc.status));
			return 1;
		}
		if (wc.wr_id >= 1000)
			continue;
		answered++;
		post_recv(&c, wc.wr_id);
		if (asked < n)
			post_send(&c, asked++ % 20);
	}
	printf("%d echoes in %.2f s; never more than 7 without one\n", answered,
	       now() - begin);
	rdma_disconnect(c.id);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 4 && !strcmp(argv[2], "hold"))
		return hold(argv[1], atoi(argv[3]), atoi(argv[4]));
	if (argc > 3 && !strcmp(argv[2], "seven"))
		return seven(argv[1], atoi(argv[3]));
	fprintf(stderr, "usage: see the top of peer_08.c\n");
	return 2;
}
