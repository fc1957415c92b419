/*
 * at_call.c - something happens to a program at one of its RDMA calls
 *
 * Preloaded into a chapter's program, or linked into a sanitized build of it:
 *
 *   AT_CALL    "rdma_connect 1": at the first call of rdma_connect(), before
 *              it is made, where calls that brought nothing (no event yet,
 *              an empty CQ) do not count, nor do those for a line of output;
 *              "17": at the 17th call of any of the functions below
 *   AT_ACTION  kill: SIGKILL; stop: SIGSTOP; int, term: SIGINT, SIGTERM, and
 *              SIGALRM if it has not ended two seconds later; fail: the call
 *              fails with EIO; leak: some memory is lost, for a sanitizer to find
 *   AT_REPORT  a file which then gets the name of the function
 *   AT_LIST    a file which gets the name of each function at each call that counts
 *
 * In a program with threads, which of them makes the nth call may differ from run to run.
 */
#define _GNU_SOURCE
#include "at_call.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <infiniband/verbs.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <rdma/rdma_cma.h>

/* Short names for long types, in the wrappers below only. */
#define CHANNEL struct rdma_event_channel *channel
#define ID struct rdma_cm_id *id
#define PARAM struct rdma_conn_param *param
#define CONTEXT struct ibv_context *context
#define COMP struct ibv_comp_channel *comp
#define PD struct ibv_pd *pd
#define CQ struct ibv_cq *cq
#define QP struct ibv_qp *qp
#define SRQ struct ibv_srq *srq

WRAP(struct rdma_event_channel *, rdma_create_event_channel, (void), (), NULL,
     ret)
WRAP(int, rdma_create_id,
     (CHANNEL, struct rdma_cm_id **id, void *user, enum rdma_port_space space),
     (channel, id, user, space), -1, true)
WRAP(int, rdma_bind_addr, (ID, struct sockaddr *addr), (id, addr), -1, true)
WRAP(int, rdma_listen, (ID, int backlog), (id, backlog), -1, true)
WRAP(int, rdma_resolve_addr,
     (ID, struct sockaddr *from, struct sockaddr *to, int ms),
     (id, from, to, ms), -1, true)
WRAP(int, rdma_resolve_route, (ID, int ms), (id, ms), -1, true)
WRAP(int, rdma_migrate_id, (ID, CHANNEL), (id, channel), -1, true)
WRAP(int, rdma_create_qp, (ID, PD, struct ibv_qp_init_attr *attr),
     (id, pd, attr), -1, true)
WRAP(int, rdma_connect, (ID, PARAM), (id, param), -1, true)
WRAP(int, rdma_accept, (ID, PARAM), (id, param), -1, true)
WRAP(int, rdma_disconnect, (ID), (id), -1, true)
WRAP(int, rdma_get_cm_event, (CHANNEL, struct rdma_cm_event **event),
     (channel, event), -1, ret == 0)
WRAP_END(rdma_ack_cm_event, (struct rdma_cm_event * event), (event), -1)
WRAP_VOID(rdma_destroy_qp, (ID), (id))
WRAP_END(rdma_destroy_id, (ID), (id), -1)
WRAP_VOID(rdma_destroy_event_channel, (CHANNEL), (channel))

WRAP(struct ibv_comp_channel *, ibv_create_comp_channel, (CONTEXT), (context),
     NULL, true)
WRAP(struct ibv_cq *, ibv_create_cq,
     (CONTEXT, int cqe, void *user, COMP, int vector),
     (context, cqe, user, comp, vector), NULL, true)
WRAP(struct ibv_srq *, ibv_create_srq, (PD, struct ibv_srq_init_attr *attr),
     (pd, attr), NULL, true)
WRAP(int, ibv_get_cq_event, (COMP, struct ibv_cq **cq, void **user),
     (comp, cq, user), -1, ret == 0)
WRAP_VOID(ibv_ack_cq_events, (CQ, unsigned int n), (cq, n))
WRAP_END(ibv_destroy_cq, (CQ), (cq), EIO)
WRAP_END(ibv_destroy_comp_channel, (COMP), (comp), EIO)
WRAP_END(ibv_dealloc_pd, (PD), (pd), EIO)
WRAP(struct ibv_qp *, ibv_create_qp, (PD, struct ibv_qp_init_attr *attr),
     (pd, attr), NULL, ret)
WRAP_END(ibv_destroy_qp, (QP), (qp), EIO)
WRAP_END(ibv_destroy_srq, (SRQ), (srq), EIO)
WRAP_END(ibv_close_device, (CONTEXT), (context), -1)
WRAP(struct ibv_device **, ibv_get_device_list, (int *count_of), (count_of),
     NULL, true)
WRAP(struct ibv_context *, ibv_open_device, (struct ibv_device * device),
     (device), NULL, true)
WRAP(int, ibv_query_device, (CONTEXT, struct ibv_device_attr *attr),
     (context, attr), EIO, true)
WRAP(int, ibv_query_gid, (CONTEXT, uint8_t port, int index, union ibv_gid *gid),
     (context, port, index, gid), -1, true)
WRAP(int, ibv_modify_qp, (QP, struct ibv_qp_attr *attr, int mask),
     (qp, attr, mask), EIO, true)
WRAP(int, ibv_query_qp,
     (QP, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init),
     (qp, attr, mask, init), EIO, true)
WRAP(int, ibv_modify_srq, (SRQ, struct ibv_srq_attr *attr, int mask),
     (srq, attr, mask), EIO, true)
WRAP(int, ibv_get_async_event, (CONTEXT, struct ibv_async_event *event),
     (context, event), -1, ret == 0)
WRAP(int, rdma_set_option, (ID, int level, int name, void *value, size_t size),
     (id, level, name, value, size), -1, true)
WRAP(int, rdma_reject, (ID, const void *data, uint8_t size), (id, data, size),
     -1, true)

/* A line that is lost there is not told of anywhere, and tests look for it. */
static bool is_output(int fd)
{
	return fd == STDOUT_FILENO || fd == STDERR_FILENO;
}

WRAP(int, epoll_create1, (int flags), (flags), -1, true)
WRAP(int, epoll_ctl, (int epoll, int op, int fd, struct epoll_event *event),
     (epoll, op, fd, event), -1, true)
WRAP(int, epoll_wait, (int epoll, struct epoll_event *events, int n, int ms),
     (epoll, events, n, ms), -1, ret > 0)
WRAP(ssize_t, read, (int fd, void *buf, size_t size), (fd, buf, size), -1, true)
WRAP_UNLESS(is_output(fd), ssize_t, write,
	    (int fd, const void *buf, size_t size), (fd, buf, size), -1, true)
WRAP(ssize_t, pread, (int fd, void *buf, size_t size, off_t at),
     (fd, buf, size, at), -1, true)
WRAP(ssize_t, pwrite, (int fd, const void *buf, size_t size, off_t at),
     (fd, buf, size, at), -1, true)
WRAP(ssize_t, recv, (int fd, void *buf, size_t size, int flags),
     (fd, buf, size, flags), -1, true)
WRAP(ssize_t, send, (int fd, const void *buf, size_t size, int flags),
     (fd, buf, size, flags), -1, true)
WRAP(ssize_t, getrandom, (void *buf, size_t size, unsigned int flags),
     (buf, size, flags), -1, true)
WRAP(int, fsync, (int fd), (fd), -1, true)
WRAP(int, renameat2,
     (int from, const char *old, int to, const char *new, unsigned int flags),
     (from, old, to, new, flags), -1, true)
WRAP(int, linkat,
     (int from, const char *old, int to, const char *new, int flags),
     (from, old, to, new, flags), -1, true)
WRAP(int, signalfd, (int fd, const sigset_t *signals, int flags),
     (fd, signals, flags), -1, true)
WRAP_UNLESS(n &&is_output(fds->fd), int, poll,
	    (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), -1, true)
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags),
     (fd, msg, flags), -1, true)
WRAP(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags),
     (fd, msg, flags), -1, true)

WRAP(int, socket, (int family, int type, int protocol),
     (family, type, protocol), -1, true)
WRAP(int, bind, (int fd, const struct sockaddr *addr, socklen_t size),
     (fd, addr, size), -1, true)
WRAP(int, listen, (int fd, int backlog), (fd, backlog), -1, true)
WRAP(int, accept, (int fd, struct sockaddr *addr, socklen_t *size),
     (fd, addr, size), -1, true)
WRAP(int, accept4, (int fd, struct sockaddr *addr, socklen_t *size, int flags),
     (fd, addr, size, flags), -1, ret >= 0)
WRAP(int, connect, (int fd, const struct sockaddr *addr, socklen_t size),
     (fd, addr, size), -1, true)
WRAP(int, setsockopt,
     (int fd, int level, int name, const void *value, socklen_t size),
     (fd, level, name, value, size), -1, true)

/* From the first one on, as *bad says. */
#define NONE_POSTED (*bad = wr, EIO)

WRAP_OP(post_send, (QP, struct ibv_send_wr *wr, struct ibv_send_wr **bad),
	(qp, wr, bad), NONE_POSTED, true)
WRAP_OP(post_recv, (QP, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad),
	(qp, wr, bad), NONE_POSTED, true)
WRAP_OP(post_srq_recv, (SRQ, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad),
	(srq, wr, bad), NONE_POSTED, true)
WRAP_OP(req_notify_cq, (CQ, int solicited), (cq, solicited), EIO, true)
WRAP_OP(poll_cq, (CQ, int n, struct ibv_wc *wc), (cq, n, wc), -1, ret > 0)

/* OpenSSL says why in its own queue, which a program without it does not have. */
static bool ssl_error(void)
{
	void (*begin)(void) = find("ERR_new");
	void (*set)(int, int, const char *, ...) = find("ERR_set_error");

	begin();
	set(ERR_LIB_SSL, ERR_R_INTERNAL_ERROR, NULL);
	return true;
}

#define CTX SSL_CTX *ctx
#define TLS SSL *tls
#define FAILS(failed) (ssl_error() ? failed : failed)

WRAP(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *method), (method), FAILS(NULL),
     true)
WRAP(int, SSL_CTX_load_verify_file, (CTX, const char *path), (ctx, path),
     FAILS(0), true)
WRAP(int, SSL_CTX_use_certificate_chain_file, (CTX, const char *path),
     (ctx, path), FAILS(0), true)
WRAP(int, SSL_CTX_use_PrivateKey_file, (CTX, const char *path, int type),
     (ctx, path, type), FAILS(0), true)
WRAP(int, SSL_CTX_check_private_key, (const CTX), (ctx), FAILS(0), true)
WRAP(int, SSL_CTX_set_ciphersuites, (CTX, const char *names), (ctx, names),
     FAILS(0), true)
WRAP(int, SSL_CTX_set_alpn_protos,
     (CTX, const unsigned char *protos, unsigned int size), (ctx, protos, size),
     FAILS(1), true)
WRAP(SSL *, SSL_new, (CTX), (ctx), FAILS(NULL), true)
WRAP(int, SSL_set_fd, (TLS, int fd), (tls, fd), FAILS(0), true)
WRAP(int, SSL_set1_host, (TLS, const char *name), (tls, name), FAILS(0), true)
WRAP(int, SSL_connect, (TLS), (tls), FAILS(-1), ret == 1)
WRAP(int, SSL_accept, (TLS), (tls), FAILS(-1), ret == 1)
/* This one as if the system had not taken it: errno says why, and the queue is empty. */
WRAP(int, SSL_write, (TLS, const void *buf, int size), (tls, buf, size), -1,
     ret > 0)
WRAP(int, SSL_read, (TLS, void *buf, int size), (tls, buf, size), FAILS(-1),
     ret > 0)
WRAP(int, SSL_do_handshake, (TLS), (tls), FAILS(-1), ret == 1)
WRAP(int, SSL_read_ex, (TLS, void *buf, size_t size, size_t *got),
     (tls, buf, size, got), FAILS(0), ret == 1)
WRAP(int, SSL_peek_ex, (TLS, void *buf, size_t size, size_t *got),
     (tls, buf, size, got), FAILS(0), ret == 1)
WRAP(int, SSL_write_ex, (TLS, const void *buf, size_t size, size_t *put),
     (tls, buf, size, put), FAILS(0), ret == 1)
WRAP(int, SSL_shutdown, (TLS), (tls), FAILS(-1), true)
WRAP(int, RAND_bytes, (unsigned char *buf, int size), (buf, size), FAILS(0),
     true)

/* Puts the five above where the inline functions of verbs.h find them. */
static void hook(struct ibv_context *context)
{
	if (context->ops.poll_cq == poll_cq)
		return;
	real_post_send = context->ops.post_send;
	real_post_recv = context->ops.post_recv;
	real_post_srq_recv = context->ops.post_srq_recv;
	real_req_notify_cq = context->ops.req_notify_cq;
	real_poll_cq = context->ops.poll_cq;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.post_srq_recv = post_srq_recv;
	context->ops.req_notify_cq = req_notify_cq;
	context->ops.poll_cq = poll_cq;
}

/* A program that uses any of those allocates a protection domain first. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	static atomic_int count;
	FIND(ibv_alloc_pd);

	if (at_call("ibv_alloc_pd", count + 1, true))
		return NULL;
	/* librdmacm allocates one as well. */
	count += made("ibv_alloc_pd", true);
	hook(context);
	return real(context);
}

/* verbs.h makes one of two functions of it, as the access flags are known. */
#undef ibv_reg_mr
static atomic_int registered;

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	FIND(ibv_reg_mr);
	if (at_call("ibv_reg_mr", registered + 1, true))
		return NULL;
	registered += made("ibv_reg_mr", true);
	return real(pd, addr, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	FIND(ibv_reg_mr_iova2);
	if (at_call("ibv_reg_mr", registered + 1, true))
		return NULL;
	registered += made("ibv_reg_mr", true);
	return real(pd, addr, length, iova, access);
}

/* A sanitizer has it: this memory is not to be reported as lost. */
__attribute__((weak)) void __lsan_ignore_object(const void *memory);

int ibv_dereg_mr(struct ibv_mr *mr)
{
	static atomic_int count;
	bool fails = at_call("ibv_dereg_mr", count + 1, true);
	int ret;
	FIND(ibv_dereg_mr);

	/* The program has to lose it on purpose: the device may still use it. */
	if (fails && __lsan_ignore_object)
		__lsan_ignore_object(mr->addr);
	depth++;
	ret = real(mr);
	depth--;
	count += made("ibv_dereg_mr", true);
	return fails ? EIO : ret;
}
