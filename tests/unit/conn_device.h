/*
 * conn_device.h - the device and the exchange that a connection is made with
 *
 * Both are played here, and note in which order they were asked for what. For
 * one test program: what is not played is static. Include it after cmocka.h.
 */
#ifndef CONN_DEVICE_H
#define CONN_DEVICE_H

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capture.h"
#include "conn.h"

#define ASKED_SIZE 512

/* What was asked for, one word each. */
static char asked[ASKED_SIZE];

static void ask(const char *word)
{
	size_t length = strlen(asked);

	snprintf(asked + length, ASKED_SIZE - length, "%s%s", length ? " " : "",
		 word);
}

static struct ibv_qp_attr init, rtr, rts; /* as they were asked for */
static int masks[IBV_QPS_ERR + 1];
static struct ibv_qp_attr now;
static int cq_entries;
static struct ibv_qp_init_attr qp_attr;
static int ready_answer, recv_answer;
static const struct params *peer_says;

static int req_notify(struct ibv_cq *cq, int solicited)
{
	(void)cq;
	(void)solicited;
	return 0;
}

static struct ibv_context context = { .ops.req_notify_cq = req_notify };
static struct ibv_pd pd = { .context = &context };
static struct ibv_comp_channel comp = { .context = &context };
static struct ibv_cq cq = { .context = &context };
static struct ibv_qp qp = { .context = &context, .qp_num = 0x77 };

struct ibv_pd *ibv_alloc_pd(struct ibv_context *verbs)
{
	(void)verbs;
	ask("pd");
	return &pd;
}

int ibv_dealloc_pd(struct ibv_pd *old)
{
	(void)old;
	ask("-pd");
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *verbs)
{
	(void)verbs;
	ask("channel");
	comp.fd = eventfd(0, 0);
	return &comp;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *old)
{
	ask("-channel");
	close(old->fd);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *verbs, int entries,
			     void *argument, struct ibv_comp_channel *channel,
			     int vector)
{
	(void)verbs;
	(void)argument;
	(void)vector;
	assert_ptr_equal(channel, &comp);
	ask("cq");
	cq_entries = entries;
	return &cq;
}

int ibv_destroy_cq(struct ibv_cq *old)
{
	(void)old;
	ask("-cq");
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *in, struct ibv_qp_init_attr *attr)
{
	(void)in;
	ask("qp");
	qp_attr = *attr;
	return &qp;
}

int ibv_destroy_qp(struct ibv_qp *old)
{
	(void)old;
	ask("-qp");
	return 0;
}

int ibv_modify_qp(struct ibv_qp *of, struct ibv_qp_attr *attr, int mask)
{
	static const char *const words[] = { "RESET", "INIT", "RTR", "RTS" };

	(void)of;
	now = *attr;
	ask(attr->qp_state <= IBV_QPS_RTS ? words[attr->qp_state] : "ERR");
	masks[attr->qp_state] = mask;
	if (attr->qp_state == IBV_QPS_INIT)
		init = *attr;
	if (attr->qp_state == IBV_QPS_RTR)
		rtr = *attr;
	if (attr->qp_state == IBV_QPS_RTS)
		rts = *attr;
	qp.state = attr->qp_state;
	return 0;
}

int ibv_query_qp(struct ibv_qp *of, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	(void)of;
	(void)mask;
	(void)init_attr;
	*attr = now;
	return 0;
}

int oob_send_params(struct oob *oob, const struct params *params)
{
	(void)oob;
	(void)params;
	ask("send");
	return 0;
}

int oob_recv_params(struct oob *oob, struct params *params, bool roce)
{
	(void)oob;
	(void)roce;
	ask("recv");
	*params = *peer_says;
	return recv_answer;
}

int oob_ready(struct oob *oob)
{
	(void)oob;
	ask("ready");
	return ready_answer;
}

const struct sockaddr *oob_local(const struct oob *oob)
{
	(void)oob;
	return NULL;
}

static int oob_news = -1; /* what is waited on */

int oob_fd(const struct oob *oob)
{
	(void)oob;
	return oob_news;
}

static int check_answer;

int oob_check(struct oob *oob)
{
	(void)oob;
	ask("check");
	return check_answer;
}

void oob_bye(struct oob *oob)
{
	(void)oob;
	ask("bye");
}

void oob_close(struct oob *oob)
{
	(void)oob;
	ask("-oob");
}

#endif
