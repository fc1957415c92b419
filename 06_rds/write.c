/*
 * write.c - RDMA into the server's memory, through an RDS socket
 *
 * Chapter 02's write, without its queue pair: the kernel's connection has one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "work.h"

enum {
	TOKEN = 6, /* ours, by which a completion says what it belongs to */
	TEXT_SIZE = 64 /* written whole: the text, and zeros up to its end */
};

/* Asks the server for memory; the key comes with the datagram. */
static int borrow(struct session *session, rds_rdma_cookie_t *key)
{
	const struct sockaddr_in *peer = &session->peers[0];
	struct rds_news news;
	struct dgram dgram;

	if (session_send_text(session, peer, DGRAM_BORROW, "") ||
	    session_expect(session, peer, DGRAM_LENT, "the loan", &dgram,
			   &news))
		return -1;
	if (!news.key)
		return log_fail("the server lends memory but gives no key");
	*key = news.key;
	/* An rkey, and where in its first page the memory begins. */
	log_line("borrowed: rkey=0x%" PRIx32 ", offset %" PRIu32 ".",
		 (uint32_t)news.key, (uint32_t)(news.key >> 32));
	return 0;
}

/* Writes text; a datagram follows it on the same connection. */
static int post_write(struct session *session, rds_rdma_cookie_t key,
		      const char *text)
{
	struct rds_iovec local = {
		.addr = (uintptr_t)text,
		.bytes = TEXT_SIZE,
	};
	struct rds_rdma_args args = {
		.cookie = key,
		/* No address: an offset into what was lent. */
		.remote_vec = { .addr = 0, .bytes = local.bytes },
		.local_vec_addr = (uintptr_t)&local,
		.nr_local = 1,
		.flags = RDS_RDMA_READWRITE | RDS_RDMA_NOTIFY_ME,
		.user_token = TOKEN,
	};
	struct rds_control control = {
		.type = RDS_CMSG_RDMA_ARGS,
		.data = &args,
		.size = sizeof(args),
	};
	char buf[DGRAM_HEADER];

	dgram_header(buf, DGRAM_WRITTEN, 0);
	log_line("writing %zu bytes.", (size_t)local.bytes);
	return session_send(session, &session->peers[0], buf, sizeof(buf),
			    &control);
}

static const char *status_name(int status)
{
	switch (status) {
	case RDS_RDMA_SUCCESS:
		return "success";
	case RDS_RDMA_REMOTE_ERROR:
		return "remote error: the key, the length or the access does not fit; the connection between the hosts has been reset for it";
	case RDS_RDMA_CANCELED:
		return "cancelled";
	case RDS_RDMA_DROPPED:
		return "dropped: the connection broke, and RDMA is not retried";
	default:
		return "another error";
	}
}

/* The memory must stay as it is until the kernel says that it is done. */
static int wait_done(struct session *session)
{
	int64_t deadline = session_deadline(session);
	struct rds_news news;
	int status;

	do {
		if (session_wait(session, "the completion of the write",
				 deadline, &news))
			return -1;
	} while (!news.completed || news.completion.user_token != TOKEN);
	status = news.completion.status;
	if (status != RDS_RDMA_SUCCESS)
		return log_fail(
			"RDMA write: status %d (%s) [docs/troubleshooting.md#rds-errors]",
			status, status_name(status));
	log_line("write completed: status=%d (%s).", status,
		 status_name(status));
	return 0;
}

int work_write(struct session *session)
{
	rds_rdma_cookie_t key = session->options->key;
	/* On the stack it would be gone when we stop waiting. */
	char *text = session->out;

	memset(text, 0, TEXT_SIZE);
	snprintf(text, TEXT_SIZE, "written from active/client side with pid %d",
		 getpid());
	if (!key && borrow(session, &key))
		return -1;
	if (post_write(session, key, text))
		return -1;
	return wait_done(session);
}
