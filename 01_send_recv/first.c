/*
 * first.c - one message each way by RDMA: client and server in one file
 *
 * ./first is the server, for one client. ./first 192.0.2.1 is a client of that.
 * Each function returns true, or false after saying what went wrong.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_verbs.h>

#define PORT 20886
#define SIZE 1024 /* the most bytes that a message may have */
#define TIMEOUT_MS 10000 /* how long the peer may take for one step */

/* Whether the condition is true. If not, prints it, and errno's text (%m). */
#define CHECK(condition) \
	((condition) || (fprintf(stderr, "error: %s: %m\n", #condition), false))

/* One end of the connection. A pointer is NULL until its object exists. */
struct conn {
	struct rdma_event_channel *events; /* readable when the CM has news */
	struct rdma_cm_id *id; /* has the queue pair, and what that needs */
	struct ibv_mr *mr; /* lets the device use both arrays */
	struct ibv_wc wc; /* the last completion */
	char ours[SIZE], theirs[SIZE]; /* what we send, and what comes */
};

/* Sleeps until fd can be read: there is news. Nothing else here sleeps. */
static bool readable(int fd, int timeout_ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	errno = ETIMEDOUT; /* stays, unless poll() itself fails */
	return poll(&pollfd, 1, timeout_ms) > 0;
}

/* Waits for the CM's next event, which must be the one that we want. */
static bool wait_event(struct conn *conn, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event;
	bool ok;

	if (!CHECK(readable(conn->events->fd, TIMEOUT_MS)) ||
	    !CHECK(!rdma_get_cm_event(conn->events, &event)))
		return false;
	printf("%s, status %d\n", rdma_event_str(event->event), event->status);
	conn->id = event->id; /* a CONNECT_REQUEST brings a new one */
	errno = EPROTO;
	ok = CHECK(event->event == want);
	/* This frees the event. Without it, rdma_destroy_id() hangs. */
	return CHECK(!rdma_ack_cm_event(event)) && ok;
}

/* The peer may send once we are connected, so this comes before. */
static bool prepare(struct conn *conn)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, /* reliable, connected to one other */
		.cap.max_send_wr = 1, /* sends at a time */
		.cap.max_recv_wr = 1, /* receives at a time */
		.cap.max_send_sge = 1, /* pieces of memory in each */
		.cap.max_recv_sge = 1,
		.sq_sig_all = 1, /* each send has a completion */
	};

	return CHECK(!rdma_create_qp(conn->id, NULL, &attr)) &&
	       CHECK(conn->mr = ibv_reg_mr(conn->id->pd, conn->ours, 2 * SIZE,
					   IBV_ACCESS_LOCAL_WRITE)) &&
	       CHECK(!rdma_post_recv(conn->id, NULL, conn->theirs, SIZE,
				     conn->mr));
}

/* Waits until a request is done: one that reports to this completion queue. */
static bool wait_done(struct ibv_cq *cq, struct ibv_wc *wc)
{
	void *context;
	int n = 0;

	/* Ask for an event, then look, and only then sleep. */
	while (CHECK(!(errno = ibv_req_notify_cq(cq, 0))) &&
	       CHECK((n = ibv_poll_cq(cq, 1, wc)) >= 0) && n == 0 &&
	       CHECK(readable(cq->channel->fd, TIMEOUT_MS)) &&
	       CHECK(!ibv_get_cq_event(cq->channel, &cq, &context)))
		ibv_ack_cq_events(cq, 1);
	if (n < 1)
		return false;
	printf("wc->status = %d (%s)\n", wc->status,
	       ibv_wc_status_str(wc->status));
	errno = EIO;
	return CHECK(wc->status == IBV_WC_SUCCESS);
}

/* Until the send is done, its memory belongs to the device. */
static bool send_bytes(struct conn *conn, char *buf, size_t len)
{
	return CHECK(!rdma_post_send(conn->id, NULL, buf, len, conn->mr, 0)) &&
	       wait_done(conn->id->send_cq, &conn->wc) &&
	       printf("send completed successfully.\n");
}

static bool receive_message(struct conn *conn)
{
	char *text = conn->theirs;

	if (!wait_done(conn->id->recv_cq, &conn->wc))
		return false;
	/* Bytes that are not text could control our terminal. */
	for (char *c = text; c < text + conn->wc.byte_len; c++)
		*c = isprint((unsigned char)*c) ? *c : '?';
	return printf("received message: %.*s\n", (int)conn->wc.byte_len, text);
}

static bool run_client(struct conn *conn, struct sockaddr *server)
{
	/* How often to send a packet again. To rxe, 7 means for ever. */
	struct rdma_conn_param param = { .retry_count = 6 };

	return CHECK(!rdma_resolve_addr(conn->id, NULL, server, 2000)) &&
	       wait_event(conn, RDMA_CM_EVENT_ADDR_RESOLVED) &&
	       CHECK(!rdma_resolve_route(conn->id, 2000)) &&
	       wait_event(conn, RDMA_CM_EVENT_ROUTE_RESOLVED) &&
	       prepare(conn) && CHECK(!rdma_connect(conn->id, &param)) &&
	       wait_event(conn, RDMA_CM_EVENT_ESTABLISHED) &&
	       send_bytes(conn, conn->ours, strlen(conn->ours)) &&
	       receive_message(conn) && CHECK(!rdma_disconnect(conn->id)) &&
	       wait_event(conn, RDMA_CM_EVENT_DISCONNECTED);
}

static bool run_server(struct conn *conn, struct sockaddr *any)
{
	/* How often the client sends again what finds no receive. */
	struct rdma_conn_param param = { .rnr_retry_count = 0 };
	struct rdma_cm_id *listener = conn->id;

	return CHECK(!rdma_bind_addr(listener, any)) &&
	       CHECK(!rdma_listen(listener, 1)) &&
	       printf("listening on port %d.\n", PORT) &&
	       CHECK(readable(conn->events->fd, -1)) && /* however long */
	       wait_event(conn, RDMA_CM_EVENT_CONNECT_REQUEST) && /* new id */
	       CHECK(!rdma_destroy_id(listener)) && /* refuses all others */
	       prepare(conn) && CHECK(!rdma_accept(conn->id, &param)) &&
	       wait_event(conn, RDMA_CM_EVENT_ESTABLISHED) &&
	       receive_message(conn) &&
	       send_bytes(conn, conn->ours, strlen(conn->ours)) &&
	       wait_event(conn, RDMA_CM_EVENT_DISCONNECTED) &&
	       CHECK(!rdma_disconnect(conn->id)); /* answers the client's */
}

int main(int argc, char **argv)
{
	struct sockaddr_in ip = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	struct sockaddr *address = (struct sockaddr *)&ip;
	char *server = argv[1];
	struct conn conn = { 0 };
	bool ok;

	if (argc > 2 || (server && !inet_pton(AF_INET, server, &ip.sin_addr))) {
		fprintf(stderr, "usage: %s [ADDRESS of the server]\n", argv[0]);
		return 2;
	}
	setlinebuf(stdout);
	snprintf(conn.ours, SIZE, "message from %s side with pid %d",
		 server ? "active/client" : "passive/server", getpid());
	ok = CHECK(conn.events = rdma_create_event_channel()) &&
	     CHECK(!fcntl(conn.events->fd, F_SETFL, O_NONBLOCK)) &&
	     CHECK(!rdma_create_id(conn.events, &conn.id, NULL, RDMA_PS_TCP)) &&
	     (server ? run_client(&conn, address) : run_server(&conn, address));
	/* In reverse order. Without a queue pair, the device uses no memory. */
	if (conn.id && conn.id->qp)
		rdma_destroy_qp(conn.id);
	ok &= CHECK(!conn.mr || !rdma_dereg_mr(conn.mr));
	ok &= CHECK(!conn.id || !rdma_destroy_id(conn.id));
	if (conn.events)
		rdma_destroy_event_channel(conn.events);
	return ok ? 0 : 1;
}
