/*
 * hostile_post.c - a peer that keeps to the protocol but for one thing
 *
 * Preloaded into a chapter's own server or client. HOSTILE says what it does:
 *
 *   imm       before its first send, it writes 0 bytes with immediate data: for
 *             that it needs no rkey, and it takes one of the peer's receives
 *   other     it reads where it should write, and writes where it should read
 *   mute      it ends its TCP connection without a goodbye, and hears none
 *   reset     the same, with RST instead of FIN
 *   small     its port has an MTU of 256 bytes
 *   keys      after its first send, it asks for key updates of TLS without end,
 *             and does not read the answers: see ASK_S
 *   late-keys the same after its second send, which is its last
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <openssl/ssl.h>
#include <rdma/rdma_cma.h>

static bool is_hostile(const char *how)
{
	const char *hostile = getenv("HOSTILE");

	return hostile && !strcmp(hostile, how);
}

/* A test that is set up wrongly must not look like one that passed. */
static void *find(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "hostile_post: no %s\n", name);
		_exit(97);
	}
	return function;
}

/* The program's last connection. */
static SSL *connection;

SSL *SSL_new(SSL_CTX *ctx)
{
	SSL *(*real)(SSL_CTX *) = find("SSL_new");

	connection = real(ctx);
	return connection;
}

/* For how many seconds it asks, unless nobody takes that any more. */
#define ASK_S 60

static void ask_for_keys(void)
{
	int (*key_update)(SSL *, int) = find("SSL_key_update");
	int (*do_handshake)(SSL *) = find("SSL_do_handshake");
	int (*get_error)(const SSL *, int) = find("SSL_get_error");
	int (*get_fd)(const SSL *) = find("SSL_get_fd");
	struct pollfd room = { .fd = get_fd(connection), .events = POLLOUT };
	time_t end = time(NULL) + ASK_S;
	int ret = 1, least = 1;

	/* The sooner its answers find no room. */
	setsockopt(room.fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least));
	while (time(NULL) < end &&
	       (ret != 1 ||
		key_update(connection, SSL_KEY_UPDATE_REQUESTED) == 1)) {
		ret = do_handshake(connection);
		if (ret == 1)
			continue;
		if (get_error(connection, ret) != SSL_ERROR_WANT_WRITE)
			return;
		poll(&room, 1, 1000);
	}
}

static int (*real_post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad);

static int post_imm(struct ibv_qp *qp)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = 7,
	};

	return real_post_send(qp, &wr, &bad);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	static int count;
	int ret;

	if (is_hostile("imm") && !count && post_imm(qp))
		_exit(97);
	if (is_hostile("other") && wr->opcode == IBV_WR_RDMA_WRITE)
		wr->opcode = IBV_WR_RDMA_READ;
	else if (is_hostile("other") && wr->opcode == IBV_WR_RDMA_READ)
		wr->opcode = IBV_WR_RDMA_WRITE;
	ret = real_post_send(qp, wr, bad);
	count++;
	if ((is_hostile("keys") && count == 1) ||
	    (is_hostile("late-keys") && count == 2))
		ask_for_keys();
	return ret;
}

/* One more than the chapter asks for: some devices have no more than that. */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *attr)
{
	int (*real)(struct rdma_cm_id *, struct ibv_pd *,
		    struct ibv_qp_init_attr *) = find("rdma_create_qp");

	attr->cap.max_send_wr++;
	return real(id, pd, attr);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *(*real)(struct ibv_pd *, struct ibv_qp_init_attr *) =
		find("ibv_create_qp");

	attr->cap.max_send_wr++;
	return real(pd, attr);
}

/* A program that posts anything allocates a protection domain first. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *(*real)(struct ibv_context *) = find("ibv_alloc_pd");

	if (context->ops.post_send != post_send) {
		real_post_send = context->ops.post_send;
		context->ops.post_send = post_send;
	}
	return real(context);
}

/* What it reads, it must be able to keep. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, uint64_t,
			       unsigned int) = find("ibv_reg_mr_iova2");

	return real(pd, addr, length, iova, access | IBV_ACCESS_LOCAL_WRITE);
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, int) =
		find("ibv_reg_mr");

	return real(pd, addr, length, access | IBV_ACCESS_LOCAL_WRITE);
}

static int (*real_query_port)(struct ibv_context *context, uint8_t port_num,
			      struct ibv_port_attr *attr, size_t size);

static int query_port(struct ibv_context *context, uint8_t port_num,
		      struct ibv_port_attr *attr, size_t size)
{
	int ret = real_query_port(context, port_num, attr, size);

	attr->active_mtu = IBV_MTU_256;
	return ret;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *(*real)(struct ibv_device *) =
		find("ibv_open_device");
	struct ibv_context *context = real(device);
	struct verbs_context *verbs;

	if (!context || !is_hostile("small"))
		return context;
	verbs = verbs_get_ctx_op(context, query_port);
	if (!verbs)
		_exit(97);
	if (verbs->query_port != query_port) {
		real_query_port = verbs->query_port;
		verbs->query_port = query_port;
	}
	return context;
}

/* Whether a goodbye on fd is to be swallowed; then no other is waited for. */
static bool swallows(int fd)
{
	struct linger linger = { .l_onoff = 1 };

	if (is_hostile("reset"))
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	if (!is_hostile("reset") && !is_hostile("mute"))
		return false;
	shutdown(fd, SHUT_RD);
	return true;
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
	ssize_t (*real)(int, const void *, size_t, int) = find("send");

	if (length == 4 && !memcmp(bytes, "BYE\n", 4) && swallows(fd))
		return 4;
	return real(fd, bytes, length, flags);
}

/* Chapters 04 and 05 use this for their goodbye, and for nothing else. */
int SSL_write(SSL *ssl, const void *bytes, int length)
{
	int (*real)(SSL *, const void *, int) = find("SSL_write");
	int (*get_fd)(const SSL *) = find("SSL_get_fd");

	if (!swallows(get_fd(ssl)))
		return real(ssl, bytes, length);
	errno = EPIPE;
	return 0;
}
