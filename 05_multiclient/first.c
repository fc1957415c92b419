/*
 * first.c - the same, but the server serves many clients at a time
 *
 * ./first is the server, until Ctrl-C. ./first 3 is one for three clients: when
 * they have gone, it says how they fared, and ends with 0 if all were served.
 * ./first 192.0.2.1 is a client. In ./certs are the certificates of all.
 * Each function returns true, or false after saying what went wrong.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#define PORT 4433
#define SIZE 1024 /* the most bytes that a message may have, or a text */
#define CLIENTS 64 /* the most at a time: others wait */
#define LINE 128 /* the bytes that each end tells the other */
#define TIMEOUT_MS 10000 /* how long the peer may take for one step */

/* Of each thread: "Client 2: ", or nothing as long as it has no client. */
static _Thread_local char who[24];

/* One call prints the whole line, or other threads could print in between. */
#define SAY(format, ...) printf("%s" format, who, ##__VA_ARGS__)

/* Whether the condition is true. If not, prints it, and errno's text (%m). */
#define CHECK(condition) \
	((condition) ||  \
	 (fprintf(stderr, "error: %s%s: %m\n", who, #condition), false))

/* OpenSSL has a list of its own of what went wrong. If it is empty, errno. */
static bool ssl_error(const char *condition)
{
	unsigned long error = ERR_get_error();
	const char *why = error ? ERR_reason_error_string(error) : NULL;

	fprintf(stderr, "error: %s%s: %s\n", who, condition,
		why ? why : strerror(errno));
	return false;
}

#define CHECK_SSL(condition) ((condition) || ssl_error(#condition))

/* What an end must know of the other, which sends it as a line of text. */
struct end {
	uint32_t qpn; /* queue pair number: 24 bits */
	uint32_t psn; /* packet sequence number of its first packet: 24 bits */
	union ibv_gid gid; /* its address */
	uint64_t addr; /* where its shared memory begins */
	uint32_t rkey; /* with this, the peer may use that memory */
};

/* Of the server's clients. All threads count here: only with the lock. */
struct figures {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int here, served, failed;
};

/* One end of the connection. A pointer is NULL until its object exists. */
struct conn {
	uint32_t number; /* the client's: the server says it to both */
	struct figures *figures; /* shared; NULL: we are a client */
	int sock; /* the TCP connection */
	SSL_CTX *tls; /* who we are, and whom we believe: shared */
	SSL *ssl; /* the TLS connection, over the TCP connection */
	struct end mine, peer;
	struct ibv_context *device; /* open: shared */
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

/* Sleeps until fd can be read: there is news. So does wait_fewer(); no other. */
static bool readable(int fd, int timeout_ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	errno = ETIMEDOUT; /* stays, unless poll() itself fails */
	return poll(&pollfd, 1, timeout_ms) > 0;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A call of OpenSSL brought nothing yet: whether more of the peer's has come. */
static bool more(struct conn *conn, int ret, long deadline)
{
	long left = deadline - now_ms();

	if (SSL_get_error(conn->ssl, ret) != SSL_ERROR_WANT_READ)
		return false;
	errno = ETIMEDOUT;
	return left > 0 && readable(conn->sock, left);
}

static bool tell(struct conn *conn, char *bytes, int len)
{
	return CHECK_SSL(SSL_write(conn->ssl, bytes, len) == len);
}

static bool hear(struct conn *conn, char *bytes, int len)
{
	long deadline = now_ms() + TIMEOUT_MS;
	int n;

	while ((n = SSL_read(conn->ssl, bytes, len)) <= 0 &&
	       more(conn, n, deadline))
		;
	errno = n > 0 ? EPROTO : errno;
	return CHECK_SSL(n == len);
}

/* Sends the bytes, and waits for as many of the peer, which does the same. */
static bool swap(struct conn *conn, char *bytes, int len)
{
	return tell(conn, bytes, len) && hear(conn, bytes, len);
}

/* Waits until the peer is as far as we are. */
static bool meet(struct conn *conn, char step)
{
	char theirs = step;

	return swap(conn, &theirs, 1) && CHECK(theirs == step);
}

/* From now on, what this thread prints begins with the client's number. */
static bool be_client(uint32_t number)
{
	return snprintf(who, sizeof(who), "Client %u: ", number) > 0;
}

/* On RoCE, a GID is an IP address: ::ffff:192.0.2.1. */
static union ibv_gid gid_of(struct in_addr ip)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	memcpy(gid.raw + 12, &ip, sizeof(ip));
	return gid;
}

/* RDMA goes between the same two addresses as TCP. */
static bool take_addresses(struct conn *conn)
{
	struct sockaddr_in mine, peer;
	socklen_t len = sizeof(mine);

	if (!CHECK(!getsockname(conn->sock, (struct sockaddr *)&mine, &len)) ||
	    !CHECK(!getpeername(conn->sock, (struct sockaddr *)&peer, &len)))
		return false;
	conn->mine.gid = gid_of(mine.sin_addr);
	conn->peer.gid = gid_of(peer.sin_addr);
	return true;
}

/* Our certificate and key, and the CA that must have signed the peer's. */
static bool load_certs(struct conn *conn, const char *cert, const char *key)
{
	SSL_CTX *tls = conn->tls = SSL_CTX_new(TLS_method());

	if (!CHECK_SSL(tls))
		return false;
	/* A server without the second flag takes clients without one, too. */
	SSL_CTX_set_verify(
		tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return CHECK_SSL(SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION)) &&
	       CHECK_SSL(SSL_CTX_use_certificate_chain_file(tls, cert) == 1) &&
	       CHECK_SSL(SSL_CTX_use_PrivateKey_file(tls, key,
						     SSL_FILETYPE_PEM) == 1) &&
	       CHECK_SSL(SSL_CTX_load_verify_file(tls, "certs/ca.pem") == 1);
}

/* The peer must have a certificate for the address at which we see it. */
static bool secure(struct conn *conn, int (*handshake)(SSL *ssl))
{
	long deadline = now_ms() + TIMEOUT_MS;
	unsigned char *ip = conn->peer.gid.raw + 12;
	uint32_t number = htonl(conn->number);
	char *hello = (char *)&number;
	long why;
	int done;

	if (!CHECK(!fcntl(conn->sock, F_SETFL, O_NONBLOCK)) ||
	    !CHECK_SSL(conn->ssl = SSL_new(conn->tls)) ||
	    !CHECK_SSL(SSL_set_fd(conn->ssl, conn->sock) == 1) ||
	    !CHECK_SSL(X509_VERIFY_PARAM_set1_ip(SSL_get0_param(conn->ssl), ip,
						 4) == 1))
		return false;
	ERR_clear_error(); /* of what load_certs() has tried */
	while ((done = handshake(conn->ssl)) <= 0 && more(conn, done, deadline))
		;
	why = SSL_get_verify_result(conn->ssl);
	if (why != X509_V_OK)
		SAY("the peer's certificate: %s\n",
		    X509_verify_cert_error_string(why));
	/* The client is done before the server has looked at its certificate. */
	return CHECK_SSL(done == 1) &&
	       (SSL_is_server(conn->ssl) ? tell(conn, hello, 4) :
					   hear(conn, hello, 4)) &&
	       be_client(ntohl(number)) && /* the client knows it now */
	       SAY("authenticated peer: %u.%u.%u.%u\n", ip[0], ip[1], ip[2],
		   ip[3]);
}

/* Whether the open device has our GID. If so, that is in conn->gid. */
static bool find_gid(struct conn *conn)
{
	struct ibv_gid_entry gids[512];
	ssize_t n = ibv_query_gid_table(conn->device, gids, 512, 0);

	while (n-- > 0) { /* it may have none, or the query fails */
		conn->gid = gids[n];
		if (conn->gid.gid_type == IBV_GID_TYPE_ROCE_V2 && /* by UDP */
		    (!conn->mine.gid.global.interface_id || /* none yet: any */
		     !memcmp(&conn->gid.gid, &conn->mine.gid, 16)))
			return true;
	}
	errno = ENODEV;
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
	       SAY("Opened %sRDMA device: %s\n", conn->figures ? "shared " : "",
		   ibv_get_device_name(conn->device->device));
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
	       SAY("QPN 0x%06x, RESET -> INIT: port_num=%u, qp_access_flags=0x%x\n",
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
	       SAY("QPN 0x%06x, INIT -> RTR: dest_qp_num=0x%06x, rq_psn=0x%06x\n",
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
	       SAY("QPN 0x%06x, RTR -> RTS: sq_psn=0x%06x\n", conn->mine.qpn,
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

	if (!CHECK(conn->pd = ibv_alloc_pd(conn->device)) ||
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

/* The line. What follows its end are zeros. */
static void describe(const struct end *end, char line[LINE])
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &end->gid, gid, sizeof(gid));
	snprintf(line, LINE,
		 "QPN 0x%06x, PSN 0x%06x, GID %s, ADDR 0x%012" PRIx64
		 ", RKEY 0x%08x\n",
		 end->qpn, end->psn, gid, end->addr, end->rkey);
}

/* Tells the peer about our end, and learns about the peer's. */
static bool exchange(struct conn *conn)
{
	char line[LINE + 1] = "", again[LINE] = "", gid[INET6_ADDRSTRLEN] = "";
	struct end peer = { 0 };

	/* Who could guess it could send packets as if they were ours. */
	if (!CHECK_SSL(RAND_bytes((void *)&conn->mine.psn, 4) == 1))
		return false;
	conn->mine.psn &= 0xffffff;
	describe(&conn->mine, line);
	SAY("local:  %s", line);
	if (!swap(conn, line, LINE))
		return false;
	sscanf(line,
	       "QPN 0x%6x, PSN 0x%6x, GID %45[^,], ADDR 0x%16" SCNx64
	       ", RKEY 0x%8x",
	       &peer.qpn, &peer.psn, gid, &peer.addr, &peer.rkey);
	inet_pton(AF_INET6, gid, &peer.gid);
	/* If we have understood all of it, we would write the same line. */
	describe(&peer, again);
	errno = EPROTO;
	if (!CHECK(!memcmp(line, again, LINE)) ||
	    !CHECK(!memcmp(&peer.gid, &conn->peer.gid, 16)) ||
	    !CHECK(peer.qpn > 1 && peer.qpn < 0xffffff) ||
	    !CHECK(peer.psn <= 0xffffff))
		return false;
	conn->peer = peer;
	return SAY("remote: %s", line);
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
	SAY("wc->status = %d (%s)\n", wc->status,
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
	       SAY("%s completed successfully.\n", what);
}

/* Each byte is read once: if the memory is shared, the peer may change it. */
static bool print_text(const char *what, const volatile char *text, size_t len)
{
	char line[SIZE + 1] = "";
	unsigned char c;

	/* Bytes that are not text could control our terminal. */
	for (size_t i = 0; i < len && (c = text[i]); i++)
		line[i] = isprint(c) ? c : '?';
	return SAY("%s: %s\n", what, line);
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
	SSL_free(c->ssl);
	return CHECK(c->sock < 0 || !close(c->sock)) && ok;
}

static bool run_client(struct conn *conn, struct sockaddr_in *server)
{
	size_t len = strlen(conn->ours) + 1; /* and the 0 that ends it */
	int tries = 2; /* after the first: 1 + 2 + 4 seconds in all */

	return load_certs(conn, "certs/client.pem", "certs/client.key") &&
	       CHECK(!setsockopt(conn->sock, IPPROTO_TCP, TCP_SYNCNT, &tries,
				 sizeof(tries))) &&
	       CHECK(!connect(conn->sock, (struct sockaddr *)server,
			      sizeof(*server))) &&
	       take_addresses(conn) && secure(conn, SSL_connect) &&
	       open_device(conn) && prepare(conn, 0) && exchange(conn) &&
	       init_to_rtr(conn) && rtr_to_rts(conn) &&
	       meet(conn, 'R') && /* ready: a packet before RTR is lost */
	       transfer(conn, IBV_WR_RDMA_WRITE, "write", conn->ours, len) &&
	       transfer(conn, IBV_WR_RDMA_READ, "read", conn->theirs, len) &&
	       print_text("read from the server", conn->theirs, len) &&
	       transfer(conn, IBV_WR_SEND, "send", strcpy(conn->ours, "done"),
			4) &&
	       meet(conn, 'D'); /* done: the program has it, too */
}

static bool serve(struct conn *conn)
{
	int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	return take_addresses(conn) && secure(conn, SSL_accept) &&
	       CHECK(find_gid(conn)) &&
	       SAY("Using shared RDMA device %s\n",
		   ibv_get_device_name(conn->device->device)) &&
	       prepare(conn, access) && post_receive(conn) && exchange(conn) &&
	       init_to_rtr(conn) && rtr_to_rts(conn) && meet(conn, 'R') &&
	       /* Only the message says when the client has written. */
	       wait_done(conn->cq, &conn->wc) &&
	       print_text("received message", conn->theirs,
			  conn->wc.byte_len) &&
	       print_text("shared memory", conn->shared, SIZE) &&
	       meet(conn, 'D');
}

static void count(struct figures *figures, int here, int served, int failed)
{
	pthread_mutex_lock(&figures->lock); /* cannot fail as it is used here */
	figures->here += here;
	figures->served += served;
	figures->failed += failed;
	pthread_cond_signal(&figures->changed); /* one thread waits, at most */
	pthread_mutex_unlock(&figures->lock);
}

/* Sleeps until there are fewer clients than that. */
static void wait_fewer(struct figures *figures, int than)
{
	pthread_mutex_lock(&figures->lock);
	while (figures->here >= than)
		pthread_cond_wait(&figures->changed, &figures->lock);
	pthread_mutex_unlock(&figures->lock);
}

/* The end of a client. When it is counted, the server may be gone at once. */
static void finish(struct conn *conn, bool ok)
{
	struct figures *figures = conn->figures;

	ok &= release(conn);
	printf("Client %u: %s.\n", conn->number, ok ? "served" : "failed");
	free(conn);
	OPENSSL_thread_stop(); /* frees what OpenSSL has for this thread */
	count(figures, -1, ok, !ok);
}

/* A thread for each client: one that is slow keeps no other waiting. */
static void *serve_in_thread(void *arg)
{
	struct conn *conn = arg;

	finish(conn, be_client(conn->number) && serve(conn));
	return NULL;
}

/* Gives the next client a copy of the server's conn, and a thread. */
static bool serve_next(struct conn *server, uint32_t number)
{
	struct conn *conn;
	pthread_t thread;
	bool ok;

	wait_fewer(server->figures, CLIENTS);
	if (!CHECK(readable(server->sock, -1)) || /* however long */
	    !CHECK(conn = malloc(sizeof(*conn))))
		return false;
	*conn = *server; /* what is shared, and the text */
	conn->number = number;
	count(conn->figures, 1, 0, 0);
	ok = CHECK((conn->sock = accept(server->sock, NULL, NULL)) >= 0) &&
	     CHECK(!(errno = pthread_create(&thread, NULL, serve_in_thread,
					    conn)));
	if (!ok)
		finish(conn, false);
	return ok && CHECK(!(errno = pthread_detach(thread)));
}

static bool run_server(struct conn *conn, struct sockaddr_in *any, long clients)
{
	struct figures figures = { .lock = PTHREAD_MUTEX_INITIALIZER,
				   .changed = PTHREAD_COND_INITIALIZER };
	bool ok = true;
	int on = 1;

	conn->figures = &figures;
	if (!(load_certs(conn, "certs/server.pem", "certs/server.key") &&
	      open_device(conn) &&
	      CHECK(!setsockopt(conn->sock, SOL_SOCKET, SO_REUSEADDR, &on,
				sizeof(on))) &&
	      CHECK(!bind(conn->sock, (struct sockaddr *)any, sizeof(*any))) &&
	      CHECK(!listen(conn->sock, CLIENTS)) &&
	      printf("listening on port %d.\n", PORT)))
		return false;
	for (long number = 1; ok && number <= clients; number++)
		ok = serve_next(conn, number);
	ok &= CHECK(!close(conn->sock)); /* refuses all others */
	conn->sock = -1;
	wait_fewer(&figures, 1);
	return printf("[figures] served: %d, failed: %d\n", figures.served,
		      figures.failed) &&
	       ok && !figures.failed;
}

int main(int argc, char **argv)
{
	struct sockaddr_in ip = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	char *word = argv[1], *end = "";
	bool client = word && inet_pton(AF_INET, word, &ip.sin_addr) == 1;
	long clients = word && !client ? strtol(word, &end, 10) : LONG_MAX;
	struct conn conn = { 0 };
	bool ok;

	if (argc > 2 || *end || clients < 1) {
		fprintf(stderr,
			"usage: %s [ADDRESS of the server, or CLIENTS]\n",
			argv[0]);
		return 2;
	}
	setlinebuf(stdout);
	signal(SIGPIPE, SIG_IGN); /* SSL_write() is to tell us instead */
	snprintf(client ? conn.ours : conn.shared, SIZE,
		 "message from %s side with pid %d",
		 client ? "active/client" : "passive/server", getpid());
	ok = CHECK((conn.sock = socket(AF_INET, SOCK_STREAM, 0)) >= 0) &&
	     (client ? run_client(&conn, &ip) :
		       run_server(&conn, &ip, clients));
	ok &= release(&conn);
	/* What is shared, when nobody uses it any more. */
	ok &= CHECK(!conn.device || !ibv_close_device(conn.device));
	SSL_CTX_free(conn.tls);
	return ok ? 0 : 1;
}
