/*
 * lend.c - the end that lends memory
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "echo.h"
#include "explain.h"
#include "iwarp.h"
#include "log.h"

/* Takes the event that made the completion channel readable. */
static int take_event(struct conn *conn)
{
	struct ibv_cq *cq;
	void *context;
	int err;

	if (ibv_get_cq_event(conn->comp, &cq, &context))
		return errno == EAGAIN ?
			       0 :
			       explain_call("ibv_get_cq_event", errno);
	ibv_ack_cq_events(cq, 1);
	err = ibv_req_notify_cq(cq, 0);
	return err ? explain_call("ibv_req_notify_cq", err) : 0;
}

/* Sleeps until there may be a completion, as long as signs of life come. */
static int sleep_beside(struct conn *conn, const volatile uint64_t *beat)
{
	uint64_t last;
	int news;

	do {
		last = *beat;
		news = wait_readable(conn->comp->fd, conn->events->fd,
				     conn->patience.stop_fd,
				     wait_deadline(conn->patience.timeout_ms));
	} while (news < 0 && errno == ETIMEDOUT && *beat != last);
	if (news < 0)
		return wait_fail("a sign of life in a benchmark", errno,
				 &conn->patience);
	return news;
}

/* The next completion, while the client is busy with our memory, and silent. */
static int next_completion(struct conn *conn, const volatile uint64_t *beat,
			   struct ibv_wc *wc)
{
	int n, news;

	while ((n = ibv_poll_cq(conn->cq, 1, wc)) == 0) {
		news = sleep_beside(conn, beat);
		if (news < 0)
			return -1;
		/* If the client has left, what was posted comes back. */
		if (news & WAIT_FIRST ? take_event(conn) : conn_news(conn))
			return -1;
	}
	if (n < 0)
		return explain_call("ibv_poll_cq", 0);
	conn->pending--;
	return 0;
}

static int await_end(struct bench *bench, const volatile uint64_t *beat)
{
	bool sent = false, received = false;
	struct head head;
	struct ibv_wc wc;

	while (!sent || !received)
		if (next_completion(bench->conn, beat, &wc) ||
		    talk_take(bench->talk, &wc, HEAD_END, &head, &sent,
			      &received))
			return -1;
	return 0;
}

/* Tells the client where length bytes are, and waits until it is done with them. */
static int lend_memory(struct bench *bench, uint32_t length)
{
	size_t beat = bench_beat(length);
	struct head head = { .type = HEAD_WELCOME, .number = length };

	log_line("benchmark: lending %u bytes.", length);
	/* The specification requires the local right with the remote one. */
	if (bench_memory(bench, beat + sizeof(uint64_t),
			 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				 IBV_ACCESS_REMOTE_READ))
		return -1;
	head.addr = (uintptr_t)bench->memory.buf;
	head.rkey = bench->memory.mr->rkey;
	if (talk_send(bench->talk, SLOT_SEND_FIRST, &head) ||
	    await_end(bench, (uint64_t *)((char *)bench->memory.buf + beat)))
		return -1;
	return bench_verify(bench, length, "written");
}

int lend(struct bench *bench)
{
	struct head head, done = { .type = HEAD_STORED };
	struct ibv_wc wc;
	uint32_t length;

	if (talk_first(bench->talk, &head))
		return -1;
	length = head.number;
	if (lend_memory(bench, length))
		return -1;
	if (iwarp_is(bench->conn->pd->context))
		return talk_send(bench->talk, SLOT_SEND_LAST, &done) ||
				       conn_wait(bench->conn, &wc) ?
			       -1 :
			       0;
	/* The SENDs must not bring what is here already, and need receives. */
	memset(bench->memory.buf, 0, length);
	if (echo_post(bench, length) ||
	    talk_send(bench->talk, SLOT_SEND_LAST, &done) ||
	    echo_serve(bench, length))
		return -1;
	return bench_verify(bench, length, "sent");
}
