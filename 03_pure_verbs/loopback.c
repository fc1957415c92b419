/*
 * loopback.c - two queue pairs that one program connects to each other
 *
 * ./loopback 192.0.2.1, where that is an address of this machine's device.
 * Each function returns true, or false after saying what went wrong.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs.h>

#define SIZE 1024 /* the most bytes that a message may have, or a text */
#define TIMEOUT_MS 10000 /* how long one request may take */

/* Whether the condition is true. If not, prints it, and errno's text (%m). */
#define CHECK(condition) \
	((condition) || (fprintf(stderr, "error: %s: %m\n", #condition), false))

/* What an end must know of the other. */
struct end {
	uint32_t qpn; /* queue pair number: 24 bits */
	uint32_t psn; /* packet sequence number of its first packet: 24 bits */
	union ibv_gid gid; /* its address */
	uint64_t addr; /* where its shared memory begins */
	uint32_t rkey; /* with this, the peer may use that memory */
};

/* One end of the connection. A pointer is NULL until its object exists. */
struct conn {
	struct end mine, peer;
	struct ibv_context *device; /* open */
	struct ibv_gid_entry gid; /* of our address: its port, its index */
	struct ibv_pd *pd; /* only its queue pairs can use its regions */
	struct ibv_comp_channel *channel; /* readable when cq has news */
	struct ibv_cq *cq; /* completions, of both queues */
	struct ibv_qp *qp;
	struct ibv_mr *mr; /* lets the device use ours and theirs */
	struct ibv_mr *shared_mr; /* lets the peer use shared, too */
	struct ibv_wc wc; /* the last completion */
	char ours[SIZE], theirs[SIZE]; /* what we send, and what comes */
	char shared[SIZE]; /* the server's: what the client may use */
};

/* Sleeps until fd can be read: there is news. Nothing else here sleeps. */
static bool readable(int fd, int timeout_ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	errno = ETIMEDOUT; /* stays, unless poll() itself fails */
	return poll(&pollfd, 1, timeout_ms) > 0;
}

/* On RoCE, a GID is an IP address: ::ffff:192.0.2.1. */
static union ibv_gid gid_of(struct in_addr ip)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	memcpy(gid.raw + 12, &ip, sizeof(ip));
	return gid;
}

/* Whether the open device has our GID. If so, that is in conn->gid. */
static bool find_gid(struct conn *conn)
{
	struct ibv_gid_entry gids[512];
	ssize_t n = ibv_query_gid_table(conn->device, gids, 512, 0);

	while (n-- > 0) { /* it may have none, or the query fails */
		conn->gid = gids[n];
		if (conn->gid.gid_type == IBV_GID_TYPE_ROCE_V2 && /* by UDP */
		    !memcmp(&conn->gid.gid, &conn->mine.gid, 16))
			return true;
	}
	return false;
}

/* Opens the device that has our GID, if there is one. */
static bool open_device(struct conn *conn)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; CHECK(list) && list[i] && !conn->device; i++) {
		conn->device = ibv_open_device(list[i]);
		if (CHECK(conn->device) && !find_gid(conn)) {
			CHECK(!ibv_close_device(conn->device));
			conn->device = NULL;
		}
	}
	if (list)
		ibv_free_device_list(list);
	errno = ENODEV;
	return CHECK(conn->device) &&
	       printf("Opened RDMA device: %s, port %u\n",
		      ibv_get_device_name(conn->device->device),
		      conn->gid.port_num);
}

/* Binds the queue pair to a port. access: what the peer may do. */
static bool reset_to_init(struct conn *conn, int access)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = 0, /* the partition: like a VLAN */
		.port_num = conn->gid.port_num,
		.qp_access_flags = access,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		   IBV_QP_ACCESS_FLAGS;

	return CHECK(!(errno = ibv_modify_qp(conn->qp, &attr, mask))) &&
	       printf("QPN 0x%06x, RESET -> INIT: port_num=%u, qp_access_flags=0x%x\n",
		      conn->mine.qpn, attr.port_num, access);
}

/* Names the peer: from now on, the queue pair takes its packets. */
static bool init_to_rtr(struct conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, /* ready to receive */
		.dest_qp_num = conn->peer.qpn,
		.rq_psn = conn->peer.psn,
		.ah_attr.is_global = 1, /* by GID, as always on RoCE */
		.ah_attr.grh.dgid = conn->peer.gid,
		.ah_attr.grh.sgid_index = conn->gid.gid_index,
		.ah_attr.grh.hop_limit = 64,
		.ah_attr.port_num = conn->gid.port_num,
		.path_mtu = IBV_MTU_1024, /* bytes a packet: both the same */
		.max_dest_rd_atomic = 1, /* the peer's reads at a time */
		.min_rnr_timer = 12, /* 0.64 ms, if we have no receive */
	};
	int mask = IBV_QP_STATE | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_AV |
		   IBV_QP_PATH_MTU | IBV_QP_MAX_DEST_RD_ATOMIC |
		   IBV_QP_MIN_RNR_TIMER;

	return CHECK(!(errno = ibv_modify_qp(conn->qp, &attr, mask))) &&
	       printf("QPN 0x%06x, INIT -> RTR: dest_qp_num=0x%06x, rq_psn=0x%06x\n",
		      conn->mine.qpn, attr.dest_qp_num, attr.rq_psn);
}

/* Says how to send: from now on, the queue pair does so. */
static bool rtr_to_rts(struct conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, /* ready to send */
		.sq_psn = conn->mine.psn,
		.timeout = 14, /* 4.096 us * 2^14, then a packet is lost, */
		.retry_cnt = 6, /* and sent again. To rxe, 7 is for ever */
		.rnr_retry = 0, /* the same, if the peer has no receive */
		.max_rd_atomic = 1, /* our reads at a time */
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
		   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		   IBV_QP_MAX_QP_RD_ATOMIC;

	return CHECK(!(errno = ibv_modify_qp(conn->qp, &attr, mask))) &&
	       printf("QPN 0x%06x, RTR -> RTS: sq_psn=0x%06x\n", conn->mine.qpn,
		      attr.sq_psn);
}

/* Our end, up to INIT. access: what the peer may do to the shared memory. */
static bool prepare(struct conn *conn, int access)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, /* reliable, connected to one other */
		.cap.max_send_wr = 1, /* sends at a time */
		.cap.max_recv_wr = 1, /* receives at a time */
		.cap.max_send_sge = 1, /* pieces of memory in each */
		.cap.max_recv_sge = 1,
		.sq_sig_all = 1, /* each send has a completion */
	};

	if (!open_device(conn) ||
	    !CHECK(conn->pd = ibv_alloc_pd(conn->device)) ||
	    !CHECK(conn->channel = ibv_create_comp_channel(conn->device)) ||
	    !CHECK(conn->cq = ibv_create_cq(conn->device, 2, NULL,
					    conn->channel, 0)) ||
	    !CHECK(conn->mr = ibv_reg_mr(conn->pd, conn->ours, 2 * SIZE,
					 IBV_ACCESS_LOCAL_WRITE)) ||
	    !CHECK(conn->shared_mr =
			   ibv_reg_mr(conn->pd, conn->shared, SIZE,
				      IBV_ACCESS_LOCAL_WRITE | access)))
		return false;
	attr.send_cq = attr.recv_cq = conn->cq;
	if (!CHECK(conn->qp = ibv_create_qp(conn->pd, &attr)))
		return false;
	conn->mine.qpn = conn->qp->qp_num; /* chosen by the device */
	conn->mine.addr = (uintptr_t)conn->shared;
	conn->mine.rkey = access ? conn->shared_mr->rkey : 0; /* none is lent */
	return reset_to_init(conn, access);
}

/* In INIT, because the peer may send as soon as we are in RTR. */
static bool post_receive(struct conn *conn)
{
	struct ibv_sge sge = { (uintptr_t)conn->theirs, SIZE, conn->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	return CHECK(!(errno = ibv_post_recv(conn->qp, &wr, &bad)));
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

/* The peer learns of a send, but not of a write or a read of its memory. */
static bool transfer(struct conn *conn, enum ibv_wr_opcode opcode,
		     const char *what, char *buf, size_t len)
{
	struct ibv_sge sge = { (uintptr_t)buf, len, conn->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = opcode,
		.sg_list = &sge, /* our memory */
		.num_sge = 1,
		.wr.rdma.remote_addr = conn->peer.addr, /* and the peer's */
		.wr.rdma.rkey = conn->peer.rkey,
	};

	/* Until it is done, our memory belongs to the device. */
	return CHECK(!(errno = ibv_post_send(conn->qp, &wr, &bad))) &&
	       wait_done(conn->cq, &conn->wc) &&
	       printf("%s completed successfully.\n", what);
}

/* Each byte is read once: if the memory is shared, the peer may change it. */
static bool print_text(const char *what, const volatile char *text, size_t len)
{
	unsigned char c;

	printf("%s: ", what);
	/* Bytes that are not text could control our terminal. */
	while (len-- > 0 && (c = *text++))
		putchar(isprint(c) ? c : '?');
	return printf("\n");
}

/* In reverse order. Without a queue pair, the device uses no memory. */
static bool release(struct conn *c)
{
	bool ok = CHECK(!c->qp || !(errno = ibv_destroy_qp(c->qp)));

	ok &= CHECK(!c->shared_mr || !(errno = ibv_dereg_mr(c->shared_mr)));
	ok &= CHECK(!c->mr || !(errno = ibv_dereg_mr(c->mr)));
	ok &= CHECK(!c->cq || !(errno = ibv_destroy_cq(c->cq)));
	ok &= CHECK(!c->channel ||
		    !(errno = ibv_destroy_comp_channel(c->channel)));
	ok &= CHECK(!c->pd || !(errno = ibv_dealloc_pd(c->pd)));
	ok &= CHECK(!c->device || !ibv_close_device(c->device));
	return ok;
}

/* Each end learns what it must know of the other: here, by assignment. */
static bool introduce(struct conn *server, struct conn *client)
{
	server->peer = client->mine;
	client->peer = server->mine;
	return true;
}

static bool run(struct conn *server, struct conn *client)
{
	int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	size_t len = strlen(client->ours) + 1; /* and the 0 that ends it */

	return prepare(server, access) && prepare(client, 0) &&
	       post_receive(server) && introduce(server, client) &&
	       init_to_rtr(server) && rtr_to_rts(server) &&
	       init_to_rtr(client) && rtr_to_rts(client) &&
	       transfer(client, IBV_WR_RDMA_WRITE, "write", client->ours,
			len) &&
	       transfer(client, IBV_WR_RDMA_READ, "read", client->theirs,
			len) &&
	       print_text("read from the server", client->theirs, len) &&
	       transfer(client, IBV_WR_SEND, "send",
			strcpy(client->ours, "done"), 4) &&
	       wait_done(server->cq, &server->wc) &&
	       print_text("received message", server->theirs,
			  server->wc.byte_len) &&
	       print_text("shared memory", server->shared, SIZE);
}

int main(int argc, char **argv)
{
	struct conn server = { .mine.psn = 0x111111,
			       .shared = "message from the server" };
	struct conn client = { .mine.psn = 0x222222,
			       .ours = "message from the client" };
	struct in_addr ip;
	bool ok;

	if (argc != 2 || inet_pton(AF_INET, argv[1], &ip) != 1) {
		fprintf(stderr, "usage: %s ADDRESS\n", argv[0]);
		return 2;
	}
	setlinebuf(stdout);
	server.mine.gid = client.mine.gid = gid_of(ip);
	ok = run(&server, &client);
	ok &= release(&client);
	return release(&server) && ok ? 0 : 1;
}
