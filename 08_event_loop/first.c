/*
 * first.c - one thread that serves many clients: each message is sent back
 *
 * ./first 192.0.2.1 is the server at this address of ours, until Ctrl-C; with
 * a number behind it, until so many clients have gone. The client is that of
 * chapter 01, as many at a time as you like: ../01_send_recv/first 192.0.2.1
 * A function returns false, after saying why, if the server cannot go on.
 * Nothing that a client does, or does not do, is a reason for that.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <rdma/rdma_verbs.h>
#include <sys/epoll.h>

#define PORT 20886
#define SIZE 1024 /* the most bytes that a message may have */
#define CLIENTS 256 /* the most at a time */
#define WINDOW 2 /* messages of a client that may be on their way back */
#define SLOTS (WINDOW * CLIENTS) /* pieces of memory for a message each */
#define BATCH 64 /* completions in one turn of the loop */
#define TIMEOUT_S 10 /* how long a client may send nothing */

/* A wr_id below SLOTS is a receive into that slot. The others: */
#define ECHO SLOTS /* plus the number of a slot: what it has is sent back */
#define GOODBYE (2 * SLOTS) /* the last send of a client */

/* Whether the condition is true. If not, prints it, and errno's text (%m). */
#define CHECK(condition) \
	((condition) || (fprintf(stderr, "error: %s: %m\n", #condition), false))

/* What a client does not share. */
struct client {
	struct rdma_cm_id *id; /* has the queue pair. NULL: nobody is here */
	time_t deadline; /* for its next message */
	int echoes; /* sends that are not complete yet */
	bool leaving; /* its goodbye is posted */
};

/* What all of them share. */
struct server {
	struct rdma_event_channel *events; /* of the listener and all clients */
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq; /* has the completions of all clients */
	struct ibv_srq *srq; /* receives, for whoever sends next */
	struct ibv_mr *mr; /* lets the device use the slots */
	int epoll; /* readable if one of the two channels is */
	long to_go; /* clients until the server ends */
	struct client clients[CLIENTS];
	char slots[SLOTS][SIZE];
};

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static bool post_receive(struct server *server, uint64_t slot)
{
	struct ibv_sge sge = { (uintptr_t)server->slots[slot], SIZE,
			       server->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot,
				  .sg_list = &sge,
				  .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return CHECK(!(errno = ibv_post_srq_recv(server->srq, &wr, &bad)));
}

/* A message of no bytes has no piece of memory: some devices need that. */
static bool post_send(struct server *server, struct client *client,
		      uintptr_t wr_id, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)server->slots[wr_id % SLOTS], len,
			       server->mr->lkey };

	return CHECK(
		!rdma_post_sendv(client->id, (void *)wr_id, &sge, len > 0, 0));
}

/*
 * In the error state, a queue pair sends nothing more. Whatever is posted comes
 * back undone, in its order. So the goodbye, posted now, comes back last.
 */
static bool say_goodbye(struct server *server, struct client *client)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (client->leaving)
		return true;
	client->leaving = true;
	if (!CHECK(!(errno = ibv_modify_qp(client->id->qp, &attr,
					   IBV_QP_STATE))))
		return false;
	rdma_disconnect(client->id); /* fails if it was never connected */
	return post_send(server, client, GOODBYE, 0);
}

/* Nothing of this client is posted any more. */
static bool forget(struct server *server, struct client *client)
{
	printf("qp_num=0x%x: gone.\n", client->id->qp->qp_num);
	rdma_destroy_qp(client->id);
	if (!CHECK(!rdma_destroy_id(client->id)))
		return false;
	*client = (struct client){ 0 };
	server->to_go--;
	return true;
}

/* Somebody asks for a connection. A failure here is this client's alone. */
static bool welcome(struct server *server, struct rdma_cm_id *id)
{
	/* If there is no receive, its device is to try again for a while. */
	struct rdma_conn_param param = { .rnr_retry_count = 6 };
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = server->cq,
		.recv_cq = server->cq,
		.srq = server->srq, /* and no receive queue of its own */
		.cap.max_send_wr = WINDOW + 1, /* and the goodbye */
		.cap.max_send_sge = 1,
		.sq_sig_all = 1,
	};
	struct client *client = server->clients;

	while (client < &server->clients[CLIENTS] && client->id)
		client++;
	errno = EUSERS;
	if (CHECK(client < &server->clients[CLIENTS]) &&
	    CHECK(!rdma_create_qp(id, server->pd, &attr)) &&
	    CHECK(!rdma_accept(id, &param))) {
		client->id = id;
		client->deadline = now_s() + TIMEOUT_S;
		id->context = client;
		return printf("qp_num=0x%x: come.\n", id->qp->qp_num);
	}
	if (id->qp)
		rdma_destroy_qp(id);
	return CHECK(!rdma_destroy_id(id)); /* this refuses it */
}

/* The CM has an event, of whichever client. */
static bool on_event(struct server *server)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(server->events, &event))
		return CHECK(errno == EAGAIN); /* went with its client */
	type = event->event;
	id = event->id;
	if (!CHECK(!rdma_ack_cm_event(event)))
		return false;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		return welcome(server, id);
	errno = ENODEV;
	if (!CHECK(type != RDMA_CM_EVENT_DEVICE_REMOVAL))
		return false;
	if (type == RDMA_CM_EVENT_ESTABLISHED || id == server->listener)
		return true;
	return say_goodbye(server, id->context); /* it left, or never came */
}

/* The receive into a slot is done: sends that back, or posts it again. */
static bool on_receive(struct server *server, struct client *client,
		       struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS && !client->leaving &&
	    client->echoes < WINDOW) {
		printf("qp_num=0x%x: a message.\n", wc->qp_num);
		client->deadline = now_s() + TIMEOUT_S;
		client->echoes++;
		return post_send(server, client, ECHO + wc->wr_id,
				 wc->byte_len);
	}
	return post_receive(server, wc->wr_id) && say_goodbye(server, client);
}

/* After a failure, only wr_id, status and qp_num of these fields are defined. */
static bool on_done(struct server *server, struct ibv_wc *wc)
{
	struct client *client = server->clients;

	while (client < &server->clients[CLIENTS] &&
	       !(client->id && client->id->qp->qp_num == wc->qp_num))
		client++;
	if (client == &server->clients[CLIENTS]) /* a forgotten one's receive */
		return post_receive(server, wc->wr_id % SLOTS);
	if (wc->status != IBV_WC_SUCCESS && !client->leaving)
		printf("qp_num=0x%x: status %d (%s)\n", wc->qp_num, wc->status,
		       ibv_wc_status_str(wc->status));
	if (wc->wr_id == GOODBYE)
		return forget(server, client);
	if (wc->wr_id < ECHO)
		return on_receive(server, client, wc);
	client->echoes--;
	return post_receive(server, wc->wr_id - ECHO) &&
	       (wc->status == IBV_WC_SUCCESS || say_goodbye(server, client));
}

/* Takes the completion channel's event, and asks for the next one. */
static bool arm(struct server *server)
{
	struct ibv_cq *cq;
	void *context;

	if (!CHECK(!ibv_get_cq_event(server->channel, &cq, &context)))
		return false;
	ibv_ack_cq_events(cq, 1);
	return CHECK(!(errno = ibv_req_notify_cq(cq, 0)));
}

/* One turn: some of what has happened. Sets *more if the CQ may have more. */
static bool turn(struct server *server, bool *more)
{
	struct epoll_event ready[2];
	struct ibv_wc wc[BATCH];
	int n = epoll_wait(server->epoll, ready, 2, *more ? 0 : 1000);
	bool ok = CHECK(n >= 0 || errno == EINTR); /* stopped, and gone on */

	/* Ask for an event, then look, and only then sleep. */
	for (int i = 0; ok && i < n; i++)
		ok = ready[i].data.fd == server->channel->fd ? arm(server) :
							       on_event(server);
	n = ok ? ibv_poll_cq(server->cq, BATCH, wc) : 0;
	*more = n == BATCH;
	for (int i = 0; ok && i < n; i++)
		ok = on_done(server, &wc[i]);
	for (int i = 0; ok && i < CLIENTS; i++)
		if (server->clients[i].id &&
		    server->clients[i].deadline < now_s())
			ok = say_goodbye(server, &server->clients[i]);
	errno = EIO;
	return CHECK(n >= 0) && ok;
}

static bool watch(struct server *server, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return CHECK(!epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event));
}

/* All that clients share is there before the first of them can come. */
static bool prepare(struct server *server, struct sockaddr *address)
{
	struct ibv_srq_init_attr attr = { .attr.max_wr = SLOTS,
					  .attr.max_sge = 1 };
	struct ibv_context *verbs;
	bool ok;

	ok = CHECK((server->epoll = epoll_create1(0)) >= 0) &&
	     CHECK(server->events = rdma_create_event_channel()) &&
	     CHECK(!fcntl(server->events->fd, F_SETFL, O_NONBLOCK)) &&
	     CHECK(!rdma_create_id(server->events, &server->listener, NULL,
				   RDMA_PS_TCP)) &&
	     CHECK(!rdma_bind_addr(server->listener, address)) &&
	     CHECK(verbs = server->listener->verbs) && /* its device */
	     CHECK(server->pd = ibv_alloc_pd(verbs)) &&
	     CHECK(server->channel = ibv_create_comp_channel(verbs)) &&
	     /* Each slot is posted once at most, and so is each goodbye. */
	     CHECK(server->cq = ibv_create_cq(verbs, SLOTS + CLIENTS, NULL,
					      server->channel, 0)) &&
	     CHECK(!(errno = ibv_req_notify_cq(server->cq, 0))) &&
	     CHECK(server->srq = ibv_create_srq(server->pd, &attr)) &&
	     CHECK(server->mr = ibv_reg_mr(server->pd, server->slots,
					   sizeof(server->slots),
					   IBV_ACCESS_LOCAL_WRITE)) &&
	     watch(server, server->events->fd) &&
	     watch(server, server->channel->fd);
	for (int i = 0; ok && i < SLOTS; i++)
		ok = post_receive(server, i);
	return ok && CHECK(!rdma_listen(server->listener, CLIENTS)) &&
	       printf("listening on port %d.\n", PORT);
}

int main(int argc, char **argv)
{
	static struct server server; /* too large for a stack */
	struct sockaddr_in ip = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	bool ok, more = true;

	server.to_go = argc == 3 ? atol(argv[2]) : LONG_MAX;
	if (argc < 2 || argc > 3 || server.to_go < 1 ||
	    !inet_pton(AF_INET, argv[1], &ip.sin_addr)) {
		fprintf(stderr, "usage: %s ADDRESS [CLIENTS]\n", argv[0]);
		return 2;
	}
	setlinebuf(stdout);
	ok = prepare(&server, (struct sockaddr *)&ip);
	while (ok && server.to_go > 0)
		ok = turn(&server, &more);
	return ok ? 0 : 1; /* the kernel frees everything, as after Ctrl-C */
}
