/*
 * rdma.c - from an address to a connected queue pair, and back
 */
#include "rdma.h"

#include <errno.h>
#include <netinet/in.h>

#include "addr.h"
#include "explain_cm.h"
#include "iwarp.h"
#include "log.h"

/* Each conn has a channel of its own, which never blocks its reader. */
static int open_channel(struct conn *conn)
{
	conn->events = rdma_create_event_channel();
	if (!conn->events)
		return explain_call("rdma_create_event_channel", errno);
	return wait_nonblocking(conn->events->fd, "rdma_create_event_channel");
}

/* Takes an event: 1, 0 if there is none (the library keeps some), or -1. */
static int take_event(struct conn *conn, struct rdma_cm_event *copy)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(conn->events, &event))
		return errno == EAGAIN ?
			       0 :
			       explain_call("rdma_get_cm_event", errno);
	*copy = *event;
	/* This frees the event. Without it, rdma_destroy_id() hangs. */
	if (rdma_ack_cm_event(event))
		/* The event has happened all the same, such as a request. */
		explain_call("rdma_ack_cm_event", errno);
	if (copy->event != RDMA_CM_EVENT_ADDR_CHANGE)
		return 1;
	/* The netdev has a new hardware address, as after a bond's failover. */
	log_line("%s: only a hint; the connection goes on.",
		 rdma_event_str(copy->event));
	return 0;
}

/* Waits for the next event, which must be of type want. */
static int expect(struct conn *conn, enum rdma_cm_event_type want)
{
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);
	struct rdma_cm_event event;
	int n;

	while ((n = take_event(conn, &event)) == 0)
		if (wait_readable(conn->events->fd, -1, conn->patience.stop_fd,
				  deadline) < 0)
			return wait_fail(rdma_event_str(want), errno,
					 &conn->patience);
	if (n < 0)
		return -1;
	return event.event == want ? 0 : explain_event(&event, want);
}

static void destroy_id(struct conn *conn)
{
	if (conn->id && rdma_destroy_id(conn->id))
		explain_call("rdma_destroy_id", errno);
	conn->id = NULL;
}

/* A new id, instead of one whose address did not work. */
static int create_id(struct conn *conn)
{
	destroy_id(conn);
	if (!conn->events && open_channel(conn))
		return -1;
	if (rdma_create_id(conn->events, &conn->id, NULL, RDMA_PS_TCP))
		return explain_call("rdma_create_id", errno);
	return 0;
}

static int listen_on(struct conn *listener, const struct addrinfo *ai)
{
	struct rdma_cm_id *id = listener->id;
	int only = 0;

	/* Take IPv4 as well, whatever net.ipv6.bindv6only says. */
	if (ai->ai_family == AF_INET6 &&
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only,
			    sizeof(only)))
		return explain_call("rdma_set_option", errno);
	if (rdma_bind_addr(id, ai->ai_addr))
		return explain_bind(id, ai, errno);
	/* An id that is bound to one address already knows its device. */
	if (!id->verbs && addr_is_loopback(ai->ai_addr))
		return addr_explain_no_device(ai->ai_addr);
	/* So many clients may wait while we serve one. */
	if (rdma_listen(id, 1024))
		return explain_call("rdma_listen", errno);
	log_line("listening on port %u.", ntohs(rdma_get_src_port(id)));
	return 0;
}

int conn_listen(struct conn *listener, const struct addrinfo *addresses)
{
	for (; addresses; addresses = addresses->ai_next)
		if (!create_id(listener) && !listen_on(listener, addresses))
			return 0;
	return -1;
}

/* Which device leads there, and by which path? */
static int resolve(struct conn *conn, const struct addrinfo *ai)
{
	/* Less than our own deadline, so that the CM says why. */
	int half = conn->patience.timeout_ms / 2,
	    ms = half < 2000 ? half : 2000;

	if (rdma_resolve_addr(conn->id, NULL, ai->ai_addr, ms))
		return explain_call("rdma_resolve_addr", errno);
	if (expect(conn, RDMA_CM_EVENT_ADDR_RESOLVED))
		return -1;
	log_line("address resolved.");
	if (rdma_resolve_route(conn->id, ms))
		return explain_route(ai, errno);
	if (expect(conn, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return -1;
	log_line("route resolved.");
	return 0;
}

int conn_resolve(struct conn *conn, const struct addrinfo *addresses)
{
	for (; addresses; addresses = addresses->ai_next)
		if (!create_id(conn) && !resolve(conn, addresses))
			return 0;
	return -1;
}

int conn_next(struct conn *listener, struct rdma_cm_id **id)
{
	int fd = listener->events->fd, stop_fd = listener->patience.stop_fd;
	struct rdma_cm_event event;
	int n;

	do {
		if (wait_readable(fd, -1, stop_fd, wait_deadline(-1)) < 0)
			return errno == ECANCELED ? 0 :
						    explain_call("poll", errno);
		n = take_event(listener, &event);
		if (n > 0 && event.event != RDMA_CM_EVENT_CONNECT_REQUEST) {
			explain_event(&event, RDMA_CM_EVENT_CONNECT_REQUEST);
			/* A client that has left again is no reason to end. */
			n = event.event == RDMA_CM_EVENT_DEVICE_REMOVAL ? -1 :
									  0;
		}
	} while (n == 0);
	*id = n > 0 ? event.id : NULL;
	return n;
}

int conn_take(struct conn *conn, struct rdma_cm_id *id)
{
	conn->id = id;
	log_line("received connection request.");
	/* On the listener's channel, its events would be among new requests. */
	if (open_channel(conn))
		return -1;
	if (rdma_migrate_id(conn->id, conn->events))
		return explain_call("rdma_migrate_id", errno);
	return 0;
}

int conn_create_qp(struct conn *conn, unsigned int sends, unsigned int receives)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = sends,
			.max_recv_wr = receives,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	/* A packet without an answer is sent again after 4.096 us * 2^14. */
	uint8_t timeout = 14;

	/* Room for every completion that can be outstanding at once. */
	if (conn_create_cq(conn, conn->id->verbs, sends + receives))
		return -1;
	attr.send_cq = attr.recv_cq = conn->cq;
	if (rdma_create_qp(conn->id, conn->pd, &attr))
		return explain_call("rdma_create_qp", errno);
	conn->qp = conn->id->qp;
	/* The CM would choose 2 s, or 0.5 s since Linux 6.2. */
	if (rdma_set_option(conn->id, RDMA_OPTION_ID,
			    RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			    sizeof(timeout)))
		return explain_call("rdma_set_option", errno);
	return 0;
}

/*
 * Both ends must disconnect, whichever began: a peer that is not told thinks that
 * the network is broken. What is still posted here comes back flushed.
 */
static int leave(struct conn *conn)
{
	if (!conn->established)
		return 0;
	conn->established = false;
	if (rdma_disconnect(conn->id))
		return explain_call("rdma_disconnect", errno);
	return 0;
}

int conn_fd(const struct conn *conn)
{
	return conn->ending ? -1 : conn->events->fd;
}

int conn_news(struct conn *conn)
{
	struct rdma_cm_event event;
	int n = take_event(conn, &event);

	if (n <= 0)
		return n;
	if (event.event == RDMA_CM_EVENT_DISCONNECTED)
		return leave(conn);
	return explain_news(&event);
}

/* What both ends ask for. */
static const struct rdma_conn_param conn_param = {
	/* How many reads may be under way, from each end: all we can. */
	.initiator_depth = RDMA_MAX_INIT_DEPTH,
	.responder_resources = RDMA_MAX_RESP_RES,
	/* How often to send a packet again. To rxe, 7 means for ever. */
	.retry_count = 6,
	/* Not again where no receive is posted: both post theirs first. */
	.rnr_retry_count = 0,
};

int conn_accept(struct conn *conn)
{
	struct rdma_conn_param param = conn_param;

	if (rdma_accept(conn->id, &param))
		return explain_call("rdma_accept", errno);
	if (expect(conn, RDMA_CM_EVENT_ESTABLISHED))
		return -1;
	conn->established = true;
	return iwarp_wait_turn(conn->id->verbs, conn->comp->fd,
			       &conn->patience);
}

int conn_connect(struct conn *conn)
{
	struct rdma_conn_param param = conn_param;

	if (rdma_connect(conn->id, &param))
		return explain_call("rdma_connect", errno);
	conn->established = !expect(conn, RDMA_CM_EVENT_ESTABLISHED);
	return conn->established ? 0 : -1;
}

int conn_disconnect(struct conn *conn)
{
	if (conn->established &&
	    (leave(conn) || expect(conn, RDMA_CM_EVENT_DISCONNECTED)))
		return -1;
	log_line("disconnected.");
	return 0;
}

int conn_wait_disconnect(struct conn *conn)
{
	if (conn->established &&
	    (expect(conn, RDMA_CM_EVENT_DISCONNECTED) || leave(conn)))
		return -1;
	log_line("peer disconnected.");
	return 0;
}

void conn_end(struct conn *conn)
{
	leave(conn);
	conn_flush(conn);
}

void conn_close(struct conn *conn)
{
	/* The reverse of the order in which they were made. */
	if (conn->qp)
		rdma_destroy_qp(conn->id);
	conn_destroy_cq(conn);
	destroy_id(conn);
	if (conn->events)
		rdma_destroy_event_channel(conn->events);
	*conn = (struct conn){ 0 };
}
