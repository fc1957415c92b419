/*
 * first.c - a stream of messages by RDMA: receiver and sender in one file
 *
 * ./first is the receiver, for one sender. ./first 192.0.2.1 sends to that.
 * ./first pause is a receiver that does something else now and then.
 * Each function returns true, or false after saying what went wrong.
 *
 * A message that finds no receive is an error. So the receiver says how many
 * receives it has posted: each is a CREDIT. The sender spends one with each
 * message, and sends nothing when it has none.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <rdma/rdma_verbs.h>

#define PORT 22227
#define SIZE 4096 /* the bytes of a message */
#define DEPTH 64 /* receives, and sends, that are posted at a time */
#define MESSAGES 1024 /* in the stream */
#define PAUSE_MS 30 /* of a receiver that pauses, after each DEPTH messages */
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
	int sends; /* how many we have posted */
	int credits; /* sender: so many more messages find a receive */
	char ours[DEPTH][SIZE], theirs[DEPTH][SIZE]; /* one message in a slot */
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

/* The completion's wr_id will say in which slot the message is. */
static bool post_receive(struct conn *conn, char *slot)
{
	return CHECK(!rdma_post_recv(conn->id, slot, slot, SIZE, conn->mr));
}

/* The peer may send once we are connected, so this comes before. */
static bool prepare(struct conn *conn)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, /* reliable, connected to one other */
		.cap.max_send_wr = DEPTH, /* sends at a time */
		.cap.max_recv_wr = DEPTH, /* receives at a time */
		.cap.max_send_sge = 1, /* pieces of memory in each */
		.cap.max_recv_sge = 1,
		.sq_sig_all = 1, /* each send has a completion */
	};
	bool ok = CHECK(!rdma_create_qp(conn->id, NULL, &attr)) &&
		  CHECK(conn->mr = ibv_reg_mr(conn->id->pd, conn->ours,
					      2 * sizeof(conn->ours),
					      IBV_ACCESS_LOCAL_WRITE));

	for (int i = 0; ok && i < DEPTH; i++)
		ok = post_receive(conn, conn->theirs[i]);
	return ok;
}

/* Waits until a request is done: one that reports to this completion queue. */
static bool wait_done(struct ibv_cq *cq, struct ibv_wc *wc)
{
	void *context;
	int n = ibv_poll_cq(cq, 1, wc); /* often one is there already */

	/* If not: ask for an event, then look, and only then sleep. */
	while (n == 0 && CHECK(!(errno = ibv_req_notify_cq(cq, 0))) &&
	       (n = ibv_poll_cq(cq, 1, wc)) == 0 &&
	       CHECK(readable(cq->channel->fd, TIMEOUT_MS)) &&
	       CHECK(!ibv_get_cq_event(cq->channel, &cq, &context)))
		ibv_ack_cq_events(cq, 1);
	if (!CHECK(n >= 0) || n == 0)
		return false;
	if (wc->status != IBV_WC_SUCCESS)
		printf("wc->status = %d (%s)\n", wc->status,
		       ibv_wc_status_str(wc->status));
	errno = EIO;
	return CHECK(wc->status == IBV_WC_SUCCESS);
}

/*
 * Sends from the slots in turn. Until a send is done, its memory belongs to the
 * device. Sends are done in order, so with DEPTH of them posted, the next one
 * that is done has left the slot that we need.
 */
static char *free_slot(struct conn *conn)
{
	if (conn->sends >= DEPTH && !wait_done(conn->id->send_cq, &conn->wc))
		return NULL;
	return conn->ours[conn->sends++ % DEPTH];
}

/* Waits for a message, which is in the slot until its receive is posted again. */
static char *full_slot(struct conn *conn)
{
	return wait_done(conn->id->recv_cq, &conn->wc) ?
		       (char *)(uintptr_t)conn->wc.wr_id :
		       NULL;
}

/* Receiver: tells the sender of n receives that are posted. */
static bool give_credits(struct conn *conn, uint32_t n)
{
	char *slot = free_slot(conn);

	n = htonl(n);
	return slot && memcpy(slot, &n, sizeof(n)) &&
	       CHECK(!rdma_post_send(conn->id, NULL, slot, sizeof(n), conn->mr,
				     0));
}

/* Sender: waits until it is told of some. No receiver has more than DEPTH. */
static bool take_credits(struct conn *conn)
{
	char *slot = full_slot(conn);
	uint32_t n;

	if (!slot)
		return false;
	memcpy(&n, slot, sizeof(n));
	n = ntohl(n);
	errno = EPROTO;
	if (!CHECK(conn->wc.byte_len == sizeof(n)) ||
	    !CHECK(n > 0 && n <= (uint32_t)(DEPTH - conn->credits)))
		return false;
	conn->credits += n;
	return post_receive(conn, slot);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
	return now.tv_sec + now.tv_nsec / 1e9;
}

static bool send_stream(struct conn *conn)
{
	double began = now_s(), s;
	char *slot;
	int all;

	if (!take_credits(conn))
		return false;
	all = conn->credits;
	printf("the receiver has posted %d receives.\n", all);
	for (int i = 0; i < MESSAGES; i++) {
		if (conn->credits == 0 && !take_credits(conn))
			return false;
		conn->credits--;
		slot = free_slot(conn);
		if (!slot || !memset(slot, i, SIZE) ||
		    !CHECK(!rdma_post_send(conn->id, NULL, slot, SIZE, conn->mr,
					   0)))
			return false;
	}
	/* When all are back, the receiver has dealt with every message. */
	while (conn->credits < all)
		if (!take_credits(conn))
			return false;
	s = now_s() - began;
	return printf("sent %d messages in %.2f s, %.1f MB/s.\n", MESSAGES, s,
		      MESSAGES * SIZE / 1e6 / s);
}

/* Each byte of message i is i, or what a byte holds of it. */
static bool receive_message(struct conn *conn, int i)
{
	char *slot = full_slot(conn);

	errno = EBADMSG;
	return slot && CHECK(conn->wc.byte_len == SIZE) &&
	       CHECK(*slot == (char)i) &&
	       CHECK(!memcmp(slot, slot + 1, SIZE - 1)) &&
	       post_receive(conn, slot); /* from here on it is the device's */
}

static bool receive_stream(struct conn *conn, bool pauses)
{
	if (!give_credits(conn, DEPTH))
		return false;
	for (int i = 0; i < MESSAGES; i++) {
		if (!receive_message(conn, i))
			return false;
		/* For half of them at a time; the other half is in use. */
		if ((i + 1) % (DEPTH / 2) == 0 &&
		    !give_credits(conn, DEPTH / 2))
			return false;
		if (pauses && (i + 1) % DEPTH == 0)
			readable(-1, PAUSE_MS); /* nothing ever is */
	}
	return printf("received %d messages, all as they should be.\n",
		      MESSAGES);
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
	       send_stream(conn) && CHECK(!rdma_disconnect(conn->id)) &&
	       wait_event(conn, RDMA_CM_EVENT_DISCONNECTED);
}

static bool run_server(struct conn *conn, struct sockaddr *any, bool pauses)
{
	/* If no receive is posted, the client's send fails at once. */
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
	       receive_stream(conn, pauses) &&
	       wait_event(conn, RDMA_CM_EVENT_DISCONNECTED) &&
	       CHECK(!rdma_disconnect(conn->id)); /* answers the client's */
}

int main(int argc, char **argv)
{
	struct sockaddr_in ip = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	struct sockaddr *address = (struct sockaddr *)&ip;
	bool pauses = argc == 2 && !strcmp(argv[1], "pause");
	char *server = pauses ? NULL : argv[1];
	struct conn conn = { 0 };
	bool ok;

	if (argc > 2 || (server && !inet_pton(AF_INET, server, &ip.sin_addr))) {
		fprintf(stderr, "usage: %s [ADDRESS of the receiver | pause]\n",
			argv[0]);
		return 2;
	}
	setlinebuf(stdout);
	ok = CHECK(conn.events = rdma_create_event_channel()) &&
	     CHECK(!fcntl(conn.events->fd, F_SETFL, O_NONBLOCK)) &&
	     CHECK(!rdma_create_id(conn.events, &conn.id, NULL, RDMA_PS_TCP)) &&
	     (server ? run_client(&conn, address) :
		       run_server(&conn, address, pauses));
	/* In reverse order. Without a queue pair, the device uses no memory. */
	if (conn.id && conn.id->qp)
		rdma_destroy_qp(conn.id);
	ok &= CHECK(!conn.mr || !rdma_dereg_mr(conn.mr));
	ok &= CHECK(!conn.id || !rdma_destroy_id(conn.id));
	if (conn.events)
		rdma_destroy_event_channel(conn.events);
	return ok ? 0 : 1;
}
