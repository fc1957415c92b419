/*
 * first.c - one message each way by RDMA: client and server in one file
 *
 *	./first              the server: it waits for one client
 *	./first 192.0.2.1    a client: the address is the server's
 *
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
#include <rdma/rdma_cma.h>

#define PORT 20886
#define SIZE 1024 /* the most bytes that a message may have */
#define TIMEOUT_MS 10000 /* how long the peer may take for one step */

/* One end of the connection. A pointer is NULL until its object exists. */
struct conn {
	struct rdma_event_channel *events; /* readable when the CM has news */
	struct rdma_cm_id *id; /* our conversation with the CM */
	struct ibv_pd *pd; /* a fence around the queue pair and its memory */
	struct ibv_comp_channel *comp; /* readable when the CQ has news */
	struct ibv_cq *cq; /* where the device reports what it has done */
	struct ibv_mr *send_mr, *recv_mr; /* let the device use the buffers */
	char send[SIZE], recv[SIZE];
};

/* Returns the condition. If it is false, prints it and errno. */
#define CHECK(condition) check((condition), #condition)

static bool check(bool ok, const char *condition)
{
	if (!ok)
		fprintf(stderr, "error: %s: %s\n", condition,
			errno ? strerror(errno) : "not so");
	return ok;
}

/* Sleeps until fd can be read; -1 is no timeout. Nothing else here sleeps. */
static bool wait_readable(int fd, int timeout_ms)
{
	struct pollfd news = { .fd = fd, .events = POLLIN };

	errno = ETIMEDOUT; /* stays, unless poll() itself fails */
	return poll(&news, 1, timeout_ms) > 0;
}

/* Waits for the CM's next event, which must be the one that we want. */
static bool wait_event(struct conn *conn, enum rdma_cm_event_type want)
{
	int timeout = want == RDMA_CM_EVENT_CONNECT_REQUEST ? -1 : TIMEOUT_MS;
	struct rdma_cm_event *event;
	bool ok;

	if (!check(wait_readable(conn->events->fd, timeout),
		   rdma_event_str(want)) ||
	    !CHECK(!rdma_get_cm_event(conn->events, &event)))
		return false;
	printf("%s, status %d\n", rdma_event_str(event->event), event->status);
	conn->id = event->id; /* a CONNECT_REQUEST brings a new one */
	errno = EPROTO;
	ok = check(event->event == want, rdma_event_str(want));
	/* This frees the event. Without it, rdma_destroy_id() hangs. */
	return CHECK(!rdma_ack_cm_event(event)) && ok;
}

/* Creates what a connection needs, on the device that the CM has found. */
static bool create_objects(struct conn *conn)
{
	struct ibv_context *device = conn->id->verbs;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, /* reliable, connected to one other */
		.cap.max_send_wr = 1, /* sends at a time, and */
		.cap.max_recv_wr = 1,
		.cap.max_send_sge = 1, /* pieces of memory in each */
		.cap.max_recv_sge = 1,
		.sq_sig_all = 1, /* each send has a completion */
	};

	/* The CQ has room for every completion that can come: two. */
	if (!CHECK(conn->pd = ibv_alloc_pd(device)) ||
	    !CHECK(conn->comp = ibv_create_comp_channel(device)) ||
	    !CHECK(conn->cq = ibv_create_cq(device, 2, NULL, conn->comp, 0)))
		return false;
	attr.send_cq = attr.recv_cq = conn->cq;
	/* A receive writes to memory. A send only reads, which needs no flag. */
	return CHECK(!rdma_create_qp(conn->id, conn->pd, &attr)) &&
	       CHECK(conn->recv_mr = ibv_reg_mr(conn->pd, conn->recv, SIZE,
						IBV_ACCESS_LOCAL_WRITE)) &&
	       CHECK(conn->send_mr = ibv_reg_mr(conn->pd, conn->send, SIZE, 0));
}

/* "Put the next message that comes into recv." */
static bool post_recv(struct conn *conn)
{
	struct ibv_sge sge = { .addr = (uintptr_t)conn->recv,
			       .length = SIZE,
			       .lkey = conn->recv_mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	return CHECK(!(errno = ibv_post_recv(conn->id->qp, &wr, &bad)));
}

/* "Send what is in send." Until that is done, it belongs to the device. */
static bool post_send(struct conn *conn, const char *us)
{
	struct ibv_sge sge = { .addr = (uintptr_t)conn->send,
			       .lkey = conn->send_mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	wr.opcode = IBV_WR_SEND;
	sge.length = snprintf(conn->send, SIZE, "message from %s with pid %d",
			      us, getpid());
	return CHECK(!(errno = ibv_post_send(conn->id->qp, &wr, &bad)));
}

/* Waits until one of the two is done, the send or the receive. */
static bool wait_done(struct conn *conn)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int n = 0;

	/* Ask for an event, then look, and only then sleep. */
	while (CHECK(!(errno = ibv_req_notify_cq(conn->cq, 0))) &&
	       CHECK((n = ibv_poll_cq(conn->cq, 1, &wc)) >= 0) && n == 0 &&
	       check(wait_readable(conn->comp->fd, TIMEOUT_MS), "completion") &&
	       CHECK(!ibv_get_cq_event(conn->comp, &cq, &context)))
		ibv_ack_cq_events(cq, 1);
	if (n < 1)
		return false;
	printf("wc->status = %d (%s)\n", wc.status,
	       ibv_wc_status_str(wc.status));
	/* After a failure, the opcode can be anything. */
	if (!CHECK(wc.status == IBV_WC_SUCCESS))
		return false;
	if (wc.opcode == IBV_WC_SEND)
		return printf("send completed successfully.\n");
	if (!CHECK(wc.opcode == IBV_WC_RECV))
		return false;
	/* Bytes that are not text could control our terminal. */
	for (char *c = conn->recv; c < conn->recv + wc.byte_len; c++)
		*c = isprint((unsigned char)*c) ? *c : '?';
	return printf("received message: %.*s\n", (int)wc.byte_len, conn->recv);
}

static bool run_client(struct conn *conn, struct sockaddr *server)
{
	/* Not 7, as many programs have: see break/no_recv_forever. */
	struct rdma_conn_param param = { .retry_count = 6 };

	return CHECK(!rdma_resolve_addr(conn->id, NULL, server, 2000)) &&
	       wait_event(conn, RDMA_CM_EVENT_ADDR_RESOLVED) &&
	       CHECK(!rdma_resolve_route(conn->id, 2000)) &&
	       wait_event(conn, RDMA_CM_EVENT_ROUTE_RESOLVED) &&
	       /* The server may send once we are connected: receive first. */
	       create_objects(conn) && post_recv(conn) &&
	       CHECK(!rdma_connect(conn->id, &param)) &&
	       wait_event(conn, RDMA_CM_EVENT_ESTABLISHED) &&
	       post_send(conn, "active/client side") &&
	       /* Our send is done, and the answer is here, in either order. */
	       wait_done(conn) && wait_done(conn) &&
	       CHECK(!rdma_disconnect(conn->id)) &&
	       wait_event(conn, RDMA_CM_EVENT_DISCONNECTED);
}

static bool run_server(struct conn *conn, struct sockaddr *any)
{
	struct rdma_conn_param param = { .rnr_retry_count = 0 };
	struct rdma_cm_id *listener = conn->id;

	return CHECK(!rdma_bind_addr(listener, any)) &&
	       CHECK(!rdma_listen(listener, 1)) &&
	       printf("listening on port %d.\n", PORT) &&
	       wait_event(conn, RDMA_CM_EVENT_CONNECT_REQUEST) &&
	       /* From here on, the CM refuses all other clients. */
	       CHECK(!rdma_destroy_id(listener)) &&
	       /* The client may send once we accept: receive first. */
	       create_objects(conn) && post_recv(conn) &&
	       CHECK(!rdma_accept(conn->id, &param)) &&
	       wait_event(conn, RDMA_CM_EVENT_ESTABLISHED) && wait_done(conn) &&
	       post_send(conn, "passive/server side") && wait_done(conn) &&
	       wait_event(conn, RDMA_CM_EVENT_DISCONNECTED) &&
	       CHECK(!rdma_disconnect(conn->id));
}

/* In reverse order. Without a queue pair, the device uses no memory. */
static void free_objects(struct conn *conn)
{
	if (conn->id && conn->id->qp)
		rdma_destroy_qp(conn->id);
	CHECK(!conn->send_mr || !(errno = ibv_dereg_mr(conn->send_mr)));
	CHECK(!conn->recv_mr || !(errno = ibv_dereg_mr(conn->recv_mr)));
	CHECK(!conn->cq || !(errno = ibv_destroy_cq(conn->cq)));
	CHECK(!conn->comp || !(errno = ibv_destroy_comp_channel(conn->comp)));
	CHECK(!conn->pd || !(errno = ibv_dealloc_pd(conn->pd)));
	CHECK(!conn->id || !rdma_destroy_id(conn->id));
	if (conn->events)
		rdma_destroy_event_channel(conn->events);
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
	ok = CHECK(conn.events = rdma_create_event_channel()) &&
	     CHECK(!fcntl(conn.events->fd, F_SETFL, O_NONBLOCK)) &&
	     CHECK(!rdma_create_id(conn.events, &conn.id, NULL, RDMA_PS_TCP)) &&
	     (server ? run_client(&conn, address) : run_server(&conn, address));
	free_objects(&conn);
	return ok ? 0 : 1;
}
