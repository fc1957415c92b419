/*
 * conn.c - from an address to a connected queue pair, and back to nothing
 */
#include "conn.h"

#include <errno.h>

#include "addr.h"
#include "cm.h"
#include "cm_help.h"
#include "log.h"

int conn_request(struct conn *conn, struct rdma_cm_id *id,
		 const struct patience *patience)
{
	conn->patience = *patience;
	conn->id = id;
	log_line("received connection request.");

	/*
	 * The new id reports to the listener's channel, where the next
	 * clients' requests arrive too. On a channel of its own, its events
	 * can be waited for one by one while the requests queue up.
	 */
	conn->events = cm_open_channel();
	if (!conn->events)
		return -1;
	if (rdma_migrate_id(conn->id, conn->events))
		return log_fail_errno("rdma_migrate_id", errno,
				      "this client is not served");
	return 0;
}

/*
 * What switches go by. The server takes it from our request, for what it sends.
 */
static int set_traffic_class(struct conn *conn, uint8_t traffic_class)
{
	if (!traffic_class ||
	    !rdma_set_option(conn->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
			     &traffic_class, sizeof(traffic_class)))
		return 0;
	return log_fail_errno("rdma_set_option", errno,
			      "may this user set a type of service");
}

/* One address: which device leads there, and by which path? */
static int resolve(struct conn *conn, const struct addrinfo *ai,
		   uint8_t traffic_class)
{
	if (rdma_create_id(conn->events, &conn->id, NULL, RDMA_PS_TCP))
		return cm_explain_create(errno);
	if (set_traffic_class(conn, traffic_class))
		return -1;
	if (rdma_resolve_addr(conn->id, NULL, ai->ai_addr,
			      cm_resolve_ms(&conn->patience)))
		return log_fail_errno(
			"rdma_resolve_addr", errno,
			"compare -a with `ip addr` on the server and `rdma link` here");
	if (cm_expect(conn->events, RDMA_CM_EVENT_ADDR_RESOLVED,
		      &conn->patience, NULL))
		return -1;
	log_line("address resolved.");
	if (rdma_resolve_route(conn->id, cm_resolve_ms(&conn->patience))) {
		if (errno == ENODEV)
			return addr_explain_no_device(ai->ai_addr);
		return log_fail_errno("rdma_resolve_route", errno,
				      "compare `rdma link` on both ends");
	}
	if (cm_expect(conn->events, RDMA_CM_EVENT_ROUTE_RESOLVED,
		      &conn->patience, NULL))
		return -1;
	log_line("route resolved.");
	return 0;
}

int conn_resolve(struct conn *conn, const char *host, const char *port,
		 uint8_t traffic_class, const struct patience *patience)
{
	struct addrinfo *list;
	int ret = -1;

	conn->patience = *patience;
	conn->events = cm_open_channel();
	if (!conn->events)
		return -1;
	if (addr_lookup(host, port, &list))
		return -1;
	/* A name may have several addresses: use the first that works. */
	for (struct addrinfo *ai = list; ai && ret; ai = ai->ai_next) {
		ret = resolve(conn, ai, traffic_class);
		if (ret)
			cm_destroy_id(&conn->id);
	}
	freeaddrinfo(list);
	return ret;
}

/* With inline data if the device has it: that helps, but we do not need it. */
static int create_qp(struct conn *conn, struct ibv_qp_init_attr *attr)
{
	attr->cap.max_inline_data = CONN_INLINE;
	if (rdma_create_qp(conn->id, conn->pd, attr)) {
		attr->cap.max_inline_data = 0;
		if (rdma_create_qp(conn->id, conn->pd, attr))
			return log_fail_errno(
				"rdma_create_qp", errno,
				"did the peer give up in the meantime? if not, see `rdma resource show`");
	}
	conn->qp = conn->id->qp;
	/* The library has written there what it really gives. */
	conn->max_inline = attr->cap.max_inline_data;
	return cm_set_ack_timeout(conn->id, CM_ACK_FULL);
}

/* Whether the device has queues as long as that. */
static int check_limits(struct ibv_context *verbs, unsigned int sends,
			unsigned int receives)
{
	struct ibv_device_attr attr;
	int err = ibv_query_device(verbs, &attr);

	if (err)
		return log_fail_errno("ibv_query_device", err,
				      "its limits remain unknown");
	if (sends > (unsigned int)attr.max_qp_wr ||
	    receives > (unsigned int)attr.max_qp_wr ||
	    sends + receives > (unsigned int)attr.max_cqe)
		return log_fail(
			"-q is too much for the device: %u sends and %u receives, where a queue pair has at most %d, and a CQ %d",
			sends, receives, attr.max_qp_wr, attr.max_cqe);
	return 0;
}

/* The PD, and the CQ with its channel. */
static int create_cq(struct conn *conn, unsigned int entries)
{
	struct ibv_context *verbs = conn->id->verbs;

	conn->pd = ibv_alloc_pd(verbs);
	if (!conn->pd)
		return log_fail_errno("ibv_alloc_pd", errno,
				      "see `rdma resource show`");
	conn->comp = ibv_create_comp_channel(verbs);
	if (!conn->comp)
		return log_fail_errno("ibv_create_comp_channel", errno,
				      "see \"ulimit -n\"");
	if (wait_nonblocking(conn->comp->fd, "ibv_create_comp_channel"))
		return -1;
	conn->cq = ibv_create_cq(verbs, entries, NULL, conn->comp, 0);
	if (!conn->cq)
		return log_fail_errno("ibv_create_cq", errno,
				      "see `rdma resource show`");
	return 0;
}

int conn_create_qp(struct conn *conn, unsigned int sends, unsigned int receives)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = sends,
			.max_recv_wr = receives,
			/* A header, and data that is elsewhere. */
			.max_send_sge = 2,
			.max_recv_sge = 2,
		},
		/* Each send says whether it wants a completion. */
		.sq_sig_all = 0,
	};

	if (check_limits(conn->id->verbs, sends, receives))
		return -1;
	/* Room for every completion that can be outstanding at once. */
	if (create_cq(conn, sends + receives))
		return -1;
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	return create_qp(conn, &attr);
}

/*
 * retry_count: how often an unacknowledged packet is sent again. The client's
 * number holds for both ends. 7, which most examples use, means "for ever" on
 * rxe, so 6 is the largest number that ends.
 * rnr_retry_count: how often to try again where no receive is posted (receiver
 * not ready). Each end sets this for the peer. Both post a receive before they
 * connect, so 0 is enough, and a mistake in that order shows at once.
 * initiator_depth, responder_resources: how many reads may be under way at
 * once, ours and the peer's. As many as the devices can; the CM takes the
 * smaller of what both ends say. 0 means that reads are not enabled.
 */
static struct rdma_conn_param conn_param(void)
{
	return (struct rdma_conn_param){
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.responder_resources = RDMA_MAX_RESP_RES,
		.retry_count = 6,
		.rnr_retry_count = 0,
	};
}

static int wait_established(struct conn *conn)
{
	if (cm_expect(conn->events, RDMA_CM_EVENT_ESTABLISHED, &conn->patience,
		      NULL))
		return -1;
	conn->established = true;
	return 0;
}

int conn_accept(struct conn *conn)
{
	struct rdma_conn_param param = conn_param();

	if (rdma_accept(conn->id, &param))
		return log_fail_errno("rdma_accept", errno,
				      "did the client give up in the meantime");
	return wait_established(conn);
}

int conn_connect(struct conn *conn)
{
	struct rdma_conn_param param = conn_param();

	if (rdma_connect(conn->id, &param))
		return cm_explain_connect(errno);
	return wait_established(conn);
}

int conn_peer_fd(const struct conn *conn)
{
	return conn->events->fd;
}

int conn_end(struct conn *conn)
{
	if (!conn->established)
		return 0;
	conn->established = false;
	if (rdma_disconnect(conn->id))
		return log_fail_errno("rdma_disconnect", errno,
				      "the connection is closed anyway");
	return 0;
}

int conn_check_peer(struct conn *conn)
{
	enum rdma_cm_event_type type;
	int n = cm_poll(conn->events, &type);

	if (n <= 0)
		return n;
	/*
	 * By now even late packets of the connection are gone, and all that
	 * was posted was flushed earlier.
	 */
	if (type == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return log_fail(
			"the peer left, and what is waited for can no longer come; was it ever posted [docs/troubleshooting.md#left]");
	if (type != RDMA_CM_EVENT_DISCONNECTED)
		return log_fail(
			"%s in the middle of the conversation; see what the peer says, and `rdma link`",
			rdma_event_str(type));
	conn->peer_left = true;
	return conn_end(conn);
}

int conn_disconnect(struct conn *conn)
{
	if (conn_end(conn))
		return -1;
	if (!conn->peer_left &&
	    cm_expect(conn->events, RDMA_CM_EVENT_DISCONNECTED, &conn->patience,
		      NULL))
		return -1;
	log_line("disconnected.");
	return 0;
}

int conn_wait_disconnect(struct conn *conn)
{
	if (!conn->peer_left) {
		if (cm_expect(conn->events, RDMA_CM_EVENT_DISCONNECTED,
			      &conn->patience, NULL))
			return -1;
		if (conn_end(conn))
			return -1;
	}
	log_line("peer disconnected.");
	return 0;
}

void conn_close(struct conn *conn)
{
	int err;

	/* The reverse of the order in which they were made. */
	if (conn->qp)
		rdma_destroy_qp(conn->id);
	if (conn->cq && (err = ibv_destroy_cq(conn->cq)))
		log_fail_errno("ibv_destroy_cq", err, "it is lost");
	if (conn->comp && (err = ibv_destroy_comp_channel(conn->comp)))
		log_fail_errno("ibv_destroy_comp_channel", err, "it is lost");
	if (conn->pd && (err = ibv_dealloc_pd(conn->pd)))
		log_fail_errno("ibv_dealloc_pd", err,
			       "does a memory region of it still exist");
	cm_destroy_id(&conn->id);
	if (conn->events)
		rdma_destroy_event_channel(conn->events);
	*conn = (struct conn){ 0 };
}
