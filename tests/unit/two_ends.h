/*
 * two_ends.h - both ends of a stream of chapter 07, over a queue pair in memory
 *
 * A request is carried out when it is posted, and both ends have their completion at once,
 * if it is signalled or fails. Only one end runs at a time: it gives way to the other where
 * it waits for a completion, or posts, as the order of play says. So a run is the same each
 * time, and if neither end can go on, that is known at once.
 *
 * The disk of the receiver is full at a write of the test's choice, and a file of the
 * sender's ends, or changes, at a read of its choice: all concern the file "a".
 */
#ifndef TWO_ENDS_H
#define TWO_ENDS_H

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>

#include "receiver.h"
#include "sender.h"
#include "test.h"

#define MANY 4096

/* Who goes on where both could. */
enum order {
	SENDER_FIRST,
	RECEIVER_FIRST,
	BY_TURNS,
	ORDERS
};

static struct ibv_device plain_device;

struct end {
	struct ibv_qp qp; /* the first member: a qp is its end */
	struct ibv_context context;
	struct ibv_cq its_cq;
	struct rdma_event_channel events;
	struct rdma_cm_id id;
	struct conn conn;
	struct stream stream;
	struct ibv_wc cq[MANY];
	unsigned int head, tail;
	struct {
		uint64_t wr_id;
		struct ibv_sge sge[2];
		int count;
	} receives[MANY];
	unsigned int rhead, rtail;
	struct end *peer;
	bool first, runs, waits, gone;
};

static struct end ends[2]; /* the sender's, and the receiver's */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum order order;
static bool stuck; /* both ends waited */
static unsigned int not_ready; /* messages that met no receive */

static bool has_news(const struct end *end)
{
	return end->head != end->tail;
}

/* Lets the other end run until that gives way. */
static void give_way(struct end *end)
{
	pthread_mutex_lock(&lock);
	end->runs = false;
	end->peer->runs = !end->peer->gone;
	if (end->peer->gone)
		end->runs = true;
	pthread_cond_broadcast(&changed);
	while (!end->runs)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void complete(struct end *end, struct ibv_wc wc)
{
	end->cq[end->tail++ % MANY] = wc;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	struct end *end = (struct end *)qp;

	(void)bad;
	for (; wr; wr = wr->next) {
		unsigned int at = end->rtail++ % MANY;

		end->receives[at].wr_id = wr->wr_id;
		end->receives[at].count = wr->num_sge;
		memcpy(end->receives[at].sge, wr->sg_list,
		       wr->num_sge * sizeof(*wr->sg_list));
	}
	return 0;
}

/* What the pieces from have, to the pieces to: how much it was. */
static uint32_t carry(const struct ibv_sge *from, int count,
		      const struct ibv_sge *to)
{
	uint32_t length = 0, at = 0;

	for (int i = 0; i < count; i++)
		for (uint32_t j = 0; j < from[i].length; j++) {
			if (at == to->length) {
				to++;
				at = 0;
			}
			((char *)(uintptr_t)to->addr)[at++] =
				((char *)(uintptr_t)from[i].addr)[j];
			length++;
		}
	return length;
}

/* A SEND, or a WRITE with immediate data: both use up a receive of the peer's. */
static void deliver(struct end *end, const struct ibv_send_wr *wr)
{
	struct ibv_wc sent = { .wr_id = wr->wr_id }, got = { 0 };
	unsigned int at = end->peer->rhead % MANY;
	struct ibv_sge *to = end->peer->receives[at].sge;

	if (end->peer->rhead == end->peer->rtail) {
		not_ready++;
		sent.status = IBV_WC_RNR_RETRY_EXC_ERR;
		complete(end, sent);
		return;
	}
	end->peer->rhead++;
	got.wr_id = end->peer->receives[at].wr_id;
	if (wr->opcode == IBV_WR_SEND) {
		sent.opcode = IBV_WC_SEND;
		got.opcode = IBV_WC_RECV;
		got.byte_len = carry(wr->sg_list, wr->num_sge, to);
	} else {
		sent.opcode = IBV_WC_RDMA_WRITE;
		got.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		got.imm_data = wr->imm_data;
		memcpy((char *)(uintptr_t)wr->wr.rdma.remote_addr,
		       (char *)(uintptr_t)wr->sg_list->addr,
		       wr->sg_list->length);
	}
	if (wr->send_flags & IBV_SEND_SIGNALED)
		complete(end, sent);
	complete(end->peer, got);
}

static void carry_out(struct end *end, const struct ibv_send_wr *wr)
{
	struct ibv_wc wc = { .wr_id = wr->wr_id, .opcode = IBV_WC_RDMA_READ };

	if (wr->opcode != IBV_WR_RDMA_READ) {
		deliver(end, wr);
		return;
	}
	memcpy((char *)(uintptr_t)wr->sg_list->addr,
	       (char *)(uintptr_t)wr->wr.rdma.remote_addr, wr->sg_list->length);
	if (wr->send_flags & IBV_SEND_SIGNALED)
		complete(end, wc);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct end *end = (struct end *)qp;

	(void)bad;
	for (; wr; wr = wr->next)
		carry_out(end, wr);
	if (end->peer->first && has_news(end->peer))
		give_way(end);
	return 0;
}

/* --- what of rdma.c the stream calls, and what that asks of the device */

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct end *end = cq->cq_context;

	(void)n;
	if (has_news(end->peer) && !end->first)
		give_way(end);
	if (!has_news(end))
		return 0;
	*wc = end->cq[end->head++ % MANY];
	return 1;
}

int conn_wait(struct conn *conn, struct ibv_wc *wc)
{
	struct end *end = (struct end *)conn->id->qp;

	if (has_news(end->peer) && !end->first)
		give_way(end);
	while (!has_news(end)) {
		stuck |= end->peer->waits && !has_news(end->peer);
		if (end->peer->gone || stuck)
			return -1;
		end->waits = true;
		give_way(end);
		end->waits = false;
	}
	*wc = end->cq[end->head++ % MANY];
	conn->pending--;
	return 0;
}

int conn_news(struct conn *conn)
{
	(void)conn;
	return 0;
}

int region_open(struct region *region, struct conn *conn, size_t size,
		int access)
{
	(void)conn;
	(void)access;
	region->buf = calloc(1, size);
	region->mr = calloc(1, sizeof(*region->mr));
	region->size = size;
	return region->buf && region->mr ? 0 : -1;
}

void region_close(struct region *region)
{
	free(region->buf);
	free(region->mr);
	*region = (struct region){ 0 };
}

/* --- a run */

static void end_open(struct end *end, struct end *peer, enum mode mode,
		     unsigned int depth, size_t bytes)
{
	*end = (struct end){ .peer = peer };
	end->context.ops.post_send = post_send;
	end->context.ops.post_recv = post_recv;
	end->qp.context = &end->context;
	end->context.ops.poll_cq = poll_cq;
	end->context.device = &plain_device;
	end->its_cq.context = &end->context;
	end->its_cq.cq_context = end;
	end->id.qp = &end->qp;
	end->id.verbs = &end->context;
	end->conn.id = &end->id;
	end->conn.cq = &end->its_cq;
	end->conn.events = &end->events;
	end->events.fd = -1;
	end->conn.patience.stop_fd = -1;
	end->conn.patience.timeout_ms = 10000;
	end->stream = (struct stream){
		.conn = &end->conn,
		.mode = mode,
		.depth = depth,
		.bytes = bytes,
		.receives = end == &ends[1],
	};
}

/* Both ends, as they are when hello.c is done with them. */
static int ends_open(enum mode mode, unsigned int depth, size_t bytes)
{
	not_ready = 0;
	stuck = false;
	for (int i = 0; i < 2; i++) {
		end_open(&ends[i], &ends[!i], mode, depth, bytes);
		ends[i].first = order == (enum order)i;
	}
	if (stream_open(&ends[0].stream) || stream_open(&ends[1].stream))
		return -1;
	ends[0].stream.ring.addr = (uintptr_t)ends[1].stream.parts.buf;
	return 0;
}

static void ends_close(void)
{
	stream_close(&ends[0].stream);
	stream_close(&ends[1].stream);
}

/* An end has returned: the other one has nobody to wait for. */
static void end_leaves(struct end *end)
{
	pthread_mutex_lock(&lock);
	end->gone = true;
	end->runs = false;
	end->peer->runs = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* Until it is this end's turn for the first time. */
static void end_begins(struct end *end)
{
	pthread_mutex_lock(&lock);
	while (!end->runs)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static char from[] = "/tmp/test_two_files.XXXXXX",
	    to[] = "/tmp/test_two_files.XXXXXX";
static int from_fd, to_fd;
static struct folder folder;
static int full_at = -1, shrinks_at = -1, changes_at = -1; /* -1: never */
static struct sender sender;
static char *names[3];

/* Whether fd is the file "a", or what has arrived of it. */
static bool is_a(int fd)
{
	char link[64], path[256] = "";
	const char *name;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) < 0)
		return false;
	name = strrchr(path, '/');
	return name && (!strcmp(name, "/a") || !strncmp(name, "/.a.", 4));
}

ssize_t pwrite(int fd, const void *buf, size_t length, off_t offset)
{
	if (full_at >= 0 && is_a(fd) && full_at-- == 0) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, buf, length, offset);
}

ssize_t pread(int fd, void *buf, size_t length, off_t offset)
{
	static const struct timespec times[2];

	if (shrinks_at >= 0 && is_a(fd) && shrinks_at-- == 0)
		return 0;
	/* Its time is another one: nobody waits for the clock's next tick. */
	if (changes_at >= 0 && is_a(fd) && changes_at-- == 0)
		futimens(fd, times);
	return syscall(SYS_pread64, fd, buf, length, offset);
}

static int make_folders(void **state)
{
	(void)state;
	if (!mkdtemp(from) || !mkdtemp(to))
		return -1;
	from_fd = open(from, O_RDONLY | O_DIRECTORY);
	to_fd = open(to, O_RDONLY | O_DIRECTORY);
	folder = (struct folder){ .fd = to_fd, .most = 1 << 30 };
	setlocale(LC_CTYPE, "C.UTF-8");
	return from_fd < 0 || to_fd < 0;
}

static int remove_folders(void **state)
{
	(void)state;
	return rmdir(from) || rmdir(to);
}

#endif
