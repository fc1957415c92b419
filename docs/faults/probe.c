/*
 * probe.c - says what one end of a connection notices of a fault, and when
 *
 * usage: probe ADDRESS 'serve|ask' KIND/OP/TIMEOUT/RETRY...
 *
 * Both ends get the same words, ADDRESS is the server's. KIND is hand (parameters over
 * TCP), cm, or tcp; OP is idle, send, write, read, connect or disconnect. The CM
 * chooses its own TIMEOUT. The client says "ready" when all are connected, except those
 * that are to connect later. Then a number N on its standard input begins each OP, and
 * repeats it until N have succeeded. Each line is the time in us since 1970, the
 * connection, and the event. The end of standard input is the end. Nothing is freed: how
 * a program leaves nothing behind is what the chapters are about.
 */
#include "probe.h"

static void modify(struct ibv_qp *qp, struct ibv_qp_attr attr, int mask)
{
	FATAL_IF((errno = ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE)));
}

static void post_receive(struct probe *p, int i)
{
	struct ibv_sge sge = { (uintptr_t)p->buf, SIZE, p->mr->lkey };
	struct ibv_recv_wr *bad,
		wr = { .wr_id = 2 * i, .sg_list = &sge, .num_sge = 1 };

	FATAL_IF((errno = ibv_post_recv(p->conns[i].qp, &wr, &bad)));
}

static void create_qp(struct probe *p, int i)
{
	struct conn *c = &p->conns[i];
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
					 .send_cq = p->cq,
					 .recv_cq = p->cq,
					 .cap = { RECEIVES, RECEIVES, 1, 1,
						  0 } };

	if (c->id)
		FATAL_IF(rdma_create_qp(c->id, p->pd, &attr));
	c->qp = c->id ? c->id->qp : ibv_create_qp(p->pd, &attr);
	FATAL_IF(!c->qp);
	p->ours.qpn[i] = c->qp->qp_num;
	if (c->id)
		for (int n = 0; n < RECEIVES; n++)
			post_receive(p, i);
}

/* The GID of RoCE v2 that stands for an IPv4 address; -1: none. */
static int find_gid(struct ibv_context *verbs, union ibv_gid *gid)
{
	struct ibv_gid_entry entry;

	for (int i = 0; i < 16; i++)
		if (!ibv_query_gid_ex(verbs, 1, (uint32_t)i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    entry.gid.raw[10] == 0xff) {
			*gid = entry.gid;
			return i;
		}
	return -1;
}

/* Both first PSNs are 0: an experiment is no place for secrets. */
static void connect_by_hand(struct probe *p, int i)
{
	struct conn *c = &p->conns[i];
	struct ibv_ah_attr path = { .is_global = 1, .port_num = 1 };
	struct ibv_qp_attr attr = { .port_num = 1, .qp_access_flags = ACCESS };

	path.grh = (struct ibv_global_route){ .dgid = p->theirs.gid,
					      .hop_limit = 64 };
	path.grh.sgid_index = (uint8_t)find_gid(p->verbs, &p->ours.gid);
	attr.qp_state = IBV_QPS_INIT;
	modify(c->qp, attr,
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	for (int n = 0; n < RECEIVES; n++)
		post_receive(p, i);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
				     .path_mtu = IBV_MTU_1024,
				     .ah_attr = path };
	attr.dest_qp_num = p->theirs.qpn[i];
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	modify(c->qp, attr,
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				     .rnr_retry = 7,
				     .max_rd_atomic = 1 };
	attr.timeout = (uint8_t)c->timeout;
	attr.retry_cnt = (uint8_t)c->retry;
	modify(c->qp, attr,
	       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Begins an operation that brings an event or a completion. */
static void begin(struct probe *p, int i)
{
	struct conn *c = &p->conns[i];
	struct ibv_sge sge = { (uintptr_t)p->buf, SIZE, p->mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = 2 * i + 1,
					.sg_list = &sge,
					.num_sge = 1,
					.send_flags = IBV_SEND_SIGNALED };

	c->posted = now_us();
	wr.wr.rdma.remote_addr = p->theirs.addr;
	wr.wr.rdma.rkey = p->theirs.rkey;
	wr.opcode = is(c->op, "send")  ? IBV_WR_SEND :
		    is(c->op, "write") ? IBV_WR_RDMA_WRITE :
					 IBV_WR_RDMA_READ;
	if (is(c->kind, "tcp")) {
		p->late = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		FATAL_IF(p->late < 0);
		if (connect(p->late, (struct sockaddr *)&p->beside,
			    sizeof(p->beside)) &&
		    errno != EINPROGRESS) {
			say(c->name, "connect: %m");
			p->late = -1;
		}
	} else if (is(c->op, "connect")) {
		if (rdma_resolve_addr(c->id, NULL,
				      (struct sockaddr *)&p->server, 2000))
			say(c->name, "rdma_resolve_addr: %m");
	} else if (is(c->op, "disconnect")) {
		if (rdma_disconnect(c->id))
			say(c->name, "rdma_disconnect: %m");
	} else if ((errno = ibv_post_send(c->qp, &wr, &bad))) {
		say(c->name, "ibv_post_send: %m");
	}
}

static void take_completions(struct probe *p)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int polled;

	FATAL_IF(ibv_get_cq_event(p->channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	FATAL_IF((errno = ibv_req_notify_cq(cq, 0)));
	while ((polled = ibv_poll_cq(cq, 1, &wc)) > 0) {
		struct conn *c = &p->conns[wc.wr_id / 2];
		long long took = now_us() - c->posted;

		if (wc.wr_id % 2 == 0 && wc.status == IBV_WC_SUCCESS) {
			post_receive(p, (int)(wc.wr_id / 2));
			continue;
		}
		if (wc.wr_id % 2 && took > c->worst)
			c->worst = took;
		if (wc.wr_id % 2 && wc.status == IBV_WC_SUCCESS &&
		    ++c->done < c->wanted)
			begin(p, (int)(wc.wr_id / 2));
		else if (wc.wr_id % 2)
			say(c->name, "status %d (%s)\t%d\t%lld", wc.status,
			    ibv_wc_status_str(wc.status), c->done, c->worst);
		else
			say(c->name, "receive: status %d (%s)", wc.status,
			    ibv_wc_status_str(wc.status));
	}
	FATAL_IF(polled < 0);
}

static void connect_cm(struct probe *p, int i)
{
	struct conn *c = &p->conns[i];
	uint8_t index = (uint8_t)i;
	struct rdma_conn_param param = { .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = (uint8_t)c->retry,
					 .rnr_retry_count = 7 };

	create_qp(p, i);
	if (!p->is_server) {
		param.private_data = &index;
		param.private_data_len = sizeof(index);
	}
	if (p->is_server ? rdma_accept(c->id, &param) :
			   rdma_connect(c->id, &param))
		say(c->name, "%s: %m",
		    p->is_server ? "rdma_accept" : "rdma_connect");
}

static void take_cm_event(struct probe *p)
{
	struct rdma_cm_event *event, copy;
	int i;

	FATAL_IF(rdma_get_cm_event(p->events, &event));
	copy = *event;
	if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		FATAL_IF(!copy.param.conn.private_data_len);
		i = *(const uint8_t *)copy.param.conn.private_data % MAX;
		copy.id->context = &p->conns[i];
		p->conns[i].id = copy.id;
	}
	FATAL_IF(rdma_ack_cm_event(event));
	if (!copy.id->context) {
		say("listener", "%s, status %d", rdma_event_str(copy.event),
		    copy.status);
		return;
	}
	i = (int)((struct conn *)copy.id->context - p->conns);
	if (copy.event == RDMA_CM_EVENT_ADDR_RESOLVED) {
		FATAL_IF(rdma_resolve_route(copy.id, 2000));
	} else if (copy.event == RDMA_CM_EVENT_ROUTE_RESOLVED ||
		   copy.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		connect_cm(p, i);
	} else if (copy.event == RDMA_CM_EVENT_ESTABLISHED &&
		   !p->conns[i].posted && !p->is_server) {
		p->missing--;
	} else {
		say(p->conns[i].name, "%s, status %d",
		    rdma_event_str(copy.event), copy.status);
		/* Answers the peer's, and fails if this end asked. */
		if (copy.event == RDMA_CM_EVENT_DISCONNECTED)
			rdma_disconnect(copy.id);
	}
}

/* The TCP connection beside it, and the first messages over that. */
static void meet(struct probe *p)
{
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	struct sockaddr *address = (struct sockaddr *)&p->beside;

	FATAL_IF(fd < 0);
	if (p->is_server) {
		FATAL_IF(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes,
				    sizeof(yes)));
		FATAL_IF(bind(fd, address, sizeof(p->beside)) || listen(fd, 8));
		say("server", "listens");
		/* It goes on to listen, for tcp/connect. */
		fd = accept(fd, NULL, NULL);
		FATAL_IF(fd < 0);
	} else {
		FATAL_IF(connect(fd, address, sizeof(p->beside)));
	}
	FATAL_IF(
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	p->tcp = fd;
	for (int turn = 0; turn < 2; turn++) {
		if (turn == p->is_server)
			FATAL_IF(send(fd, &p->ours, sizeof(p->ours), 0) !=
				 sizeof(p->ours));
		else
			FATAL_IF(recv(fd, &p->theirs, sizeof(p->theirs),
				      MSG_WAITALL) != sizeof(p->theirs));
		/* The client may post once it has heard of our queue pairs. */
		for (int i = 0; turn == !p->is_server && i < p->count; i++)
			if (is(p->conns[i].kind, "hand"))
				connect_by_hand(p, i);
	}
}

static void open_all(struct probe *p)
{
	struct sockaddr *address = (struct sockaddr *)&p->server;
	struct rdma_cm_id *id;

	FATAL_IF(!(p->events = rdma_create_event_channel()));
	FATAL_IF(rdma_create_id(p->is_server ? p->events : NULL, &id, NULL,
				RDMA_PS_TCP));
	if (p->is_server)
		FATAL_IF(rdma_bind_addr(id, address) || rdma_listen(id, MAX));
	else
		FATAL_IF(rdma_resolve_addr(id, NULL, address, 2000));
	p->verbs = id->verbs;
	FATAL_IF(!(p->pd = ibv_alloc_pd(p->verbs)));
	FATAL_IF(!(p->channel = ibv_create_comp_channel(p->verbs)));
	FATAL_IF(!(p->cq = ibv_create_cq(p->verbs, 2 * MAX * RECEIVES, NULL,
					 p->channel, 0)));
	FATAL_IF((errno = ibv_req_notify_cq(p->cq, 0)));
	FATAL_IF(!(p->mr = ibv_reg_mr(p->pd, p->buf, SIZE, ACCESS)));
	p->ours.addr = (uintptr_t)p->buf;
	p->ours.rkey = p->mr->rkey;
	for (int i = 0; i < p->count; i++) {
		struct conn *c = &p->conns[i];

		if (is(c->kind, "hand"))
			create_qp(p, i);
		else if (is(c->kind, "cm") && !p->is_server)
			FATAL_IF(rdma_create_id(p->events, &c->id, c,
						RDMA_PS_TCP));
	}
	/* Over iWARP no GID stands for an address, and nothing is by hand. */
	FATAL_IF(find_gid(p->verbs, &p->ours.gid) < 0 &&
		 is(p->conns[0].kind, "hand"));
}

static void take_device_event(struct probe *p)
{
	struct ibv_async_event event;

	FATAL_IF(ibv_get_async_event(p->verbs, &event));
	say("device", "%s", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
}

static void take_tcp(struct probe *p)
{
	char byte;

	say("tcp", "%s",
	    recv(p->tcp, &byte, 1, 0) < 0 ? strerror(errno) : "end of file");
	/* Not looked at any more, and not closed: that would be news. */
	p->tcp = -1;
}

/* Whether there is more to come from standard input. */
static int take_word(struct probe *p)
{
	char text[16] = "";
	ssize_t len = read(0, text, sizeof(text) - 1);

	if (len > 0)
		say("client", "begins");
	for (int i = 0; len > 0 && !p->is_server && i < p->count; i++) {
		p->conns[i].wanted = atoi(text);
		if (!is(p->conns[i].op, "idle"))
			begin(p, i);
	}
	return len > 0;
}

static void watch(struct probe *p)
{
	int error, ready = 0;
	socklen_t len = sizeof(error);

	for (;;) {
		struct pollfd fds[] = { { 0, POLLIN, 0 },
					{ p->events->fd, POLLIN, 0 },
					{ p->channel->fd, POLLIN, 0 },
					{ p->verbs->async_fd, POLLIN, 0 },
					{ p->tcp, POLLIN, 0 },
					{ p->late, POLLOUT, 0 } };

		if (!ready && !p->missing && !p->is_server) {
			say("client", "ready");
			ready = 1;
		}
		errno = ETIMEDOUT;
		FATAL_IF(poll(fds, 6, ready || p->is_server ? -1 : SETUP_MS) <
			 1);
		if (fds[1].revents)
			take_cm_event(p);
		if (fds[2].revents)
			take_completions(p);
		if (fds[3].revents)
			take_device_event(p);
		if (fds[4].revents)
			take_tcp(p);
		if (fds[5].revents) {
			FATAL_IF(getsockopt(p->late, SOL_SOCKET, SO_ERROR,
					    &error, &len));
			errno = error;
			say("tcp/connect", "%m");
			p->late = -1;
		}
		if (fds[0].revents && !take_word(p))
			return;
	}
}

int main(int argc, char **argv)
{
	struct probe p = { .late = -1,
			   .server = { .sin_family = AF_INET,
				       .sin_port = htons(PORT) } };

	if (argc < 4 || argc > 3 + MAX ||
	    !inet_pton(AF_INET, argv[1], &p.server.sin_addr)) {
		fprintf(stderr,
			"usage: %s ADDRESS serve|ask KIND/OP/TIMEOUT/RETRY...\n",
			argv[0]);
		return 2;
	}
	/* Over iWARP the CM's port is one of TCP's. */
	p.beside = p.server;
	p.beside.sin_port = htons(PORT + 1);
	setlinebuf(stdout);
	p.is_server = is(argv[2], "serve");
	for (; p.count < argc - 3; p.count++) {
		struct conn *c = &p.conns[p.count];

		snprintf(c->name, sizeof(c->name), "%s", argv[3 + p.count]);
		FATAL_IF(sscanf(c->name, "%7[^/]/%15[^/]/%d/%d", c->kind, c->op,
				&c->timeout, &c->retry) != 4);
		p.missing += is(c->kind, "cm") && !is(c->op, "connect");
	}
	open_all(&p);
	meet(&p);
	for (int i = 0; !p.is_server && i < p.count; i++)
		if (is(p.conns[i].kind, "cm") && !is(p.conns[i].op, "connect"))
			FATAL_IF(rdma_resolve_addr(p.conns[i].id, NULL,
						   (struct sockaddr *)&p.server,
						   2000));
	watch(&p);
	return 0;
}
