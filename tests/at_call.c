/*
 * at_call.c - something happens to a program at one of its RDMA calls
 *
 * Preloaded into a chapter's program, or linked into a sanitized build of it:
 *
 *   AT_CALL    "rdma_connect 1": at the first call of rdma_connect(), before
 *              it is made, where calls that brought nothing (no event yet,
 *              an empty CQ) do not count; "17": at the 17th call of any of
 *              the functions below
 *   AT_ACTION  kill: SIGKILL; stop: SIGSTOP; int, term: SIGINT, SIGTERM, and
 *              SIGALRM if it has not ended two seconds later; fail: the call
 *              fails with EIO; leak: some memory is lost, for a sanitizer to find
 *   AT_REPORT  a file which then gets the name of the function
 *   AT_SEED    a number: it chooses about every fourth of these calls, before
 *              which the program pauses for a millisecond. On a node with a
 *              time of its own these cost nothing, and the number alone decides
 *              which of two ends is first
 *
 * Counts without a lock: for programs in which one thread at a time calls these
 * functions, while others may be asleep in one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/* A test that is set up wrongly must not look like one that passed. */
static void give_up(const char *why)
{
	fprintf(stderr, "at_call: %s\n", why);
	_exit(97);
}

/* It has to end by itself, and soon. */
static void interrupt(int signal)
{
	alarm(2);
	kill(getpid(), signal);
}

static void lose_memory(void)
{
	char *volatile lost = malloc(77);

	if (!lost)
		give_up("malloc");
	lost = NULL;
}

static void report(const char *name)
{
	const char *path = getenv("AT_REPORT");
	int fd;

	if (!path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || dprintf(fd, "%s\n", name) < 0 || close(fd))
		give_up("cannot write AT_REPORT");
}

/* Whether the nth call of name is the one that AT_CALL means. */
static bool is_the_call(const char *name, int nth)
{
	static int total;
	const char *at = getenv("AT_CALL");
	char this_one[64];

	total++;
	if (!at)
		return false;
	snprintf(this_one, sizeof(this_one), "%s %d", name, nth);
	return !strcmp(at, this_one) || atoi(at) == total;
}

/*
 * How many wrapped functions are being called: the libraries call each other
 * and themselves, and only what the program itself calls is meant.
 */
static _Thread_local int depth;

static void pause_by_seed(void)
{
	static const struct timespec pause = { .tv_nsec = 1000000 };
	static uint32_t calls;
	const char *seed = getenv("AT_SEED");
	uint32_t hash;

	if (!seed || depth)
		return;
	/* The two ends are not to do the same. */
	hash = strtoul(seed, NULL, 10) * 2654435761u +
	       program_invocation_short_name[0] * 40503u + ++calls;
	hash = (hash ^ hash >> 16) * 2246822519u;
	hash = (hash ^ hash >> 13) * 3266489917u;
	if ((hash >> 24) % 4 == 0 && nanosleep(&pause, NULL))
		return; /* by a signal */
}

/* Returns whether the call shall fail, and sets errno for it if so. */
static bool at_call(const char *name, int nth, bool can_fail)
{
	const char *action = getenv("AT_ACTION");
	static bool done;

	pause_by_seed();
	if (!action || done || depth ||
	    (!can_fail && !strcmp(action, "fail")) || !is_the_call(name, nth))
		return false;
	done = true;
	report(name);
	if (!strcmp(action, "kill"))
		kill(getpid(), SIGKILL);
	else if (!strcmp(action, "stop"))
		raise(SIGSTOP); /* this thread: at once, not a little later */
	else if (!strcmp(action, "int"))
		interrupt(SIGINT);
	else if (!strcmp(action, "term"))
		interrupt(SIGTERM);
	else if (!strcmp(action, "leak"))
		lose_memory();
	else if (strcmp(action, "fail"))
		give_up("AT_ACTION is none of those that there are");
	errno = EIO;
	return !strcmp(action, "fail");
}

static void *find(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		give_up(name);
	return function;
}

#define FIND(name)                 \
	static typeof(&name) real; \
	if (!real)                 \
	real = find(#name)

/* A wrapper, where brought says whether ret is a result that counts. */
#define WRAP(type, name, params, args, failed, brought) \
	type name params                                \
	{                                               \
		static int count;                       \
		type ret;                               \
                                                        \
		FIND(name);                             \
		if (at_call(#name, count + 1, true))    \
			return failed;                  \
		depth++;                                \
		ret = real args;                        \
		depth--;                                \
		count += (brought) && !depth;           \
		return ret;                             \
	}

/* The same for what frees: it is done even so, or it would be a leak. */
#define WRAP_END(name, params, args, failed)                  \
	int name params                                       \
	{                                                     \
		static int count;                             \
		bool fails = at_call(#name, count + 1, true); \
		int ret;                                      \
                                                              \
		FIND(name);                                   \
		depth++;                                      \
		ret = real args;                              \
		depth--;                                      \
		count += !depth;                              \
		errno = fails ? EIO : errno;                  \
		return fails ? failed : ret;                  \
	}

/* The same for what cannot fail. */
#define WRAP_VOID(name, params, args)             \
	void name params                          \
	{                                         \
		static int count;                 \
                                                  \
		FIND(name);                       \
		at_call(#name, count + 1, false); \
		depth++;                          \
		real args;                        \
		depth--;                          \
		count += !depth;                  \
	}

/* The same for what libibverbs calls through the context, by hook(). */
#define WRAP_OP(op, params, args, failed, brought)        \
	static int(*real_##op) params;                    \
                                                          \
	static int op params                              \
	{                                                 \
		static int count;                         \
		int ret;                                  \
                                                          \
		if (at_call("ibv_" #op, count + 1, true)) \
			return failed;                    \
		depth++;                                  \
		ret = real_##op args;                     \
		depth--;                                  \
		count += (brought) && !depth;             \
		return ret;                               \
	}

/* Short names for long types, in the wrappers below only. */
#define CHANNEL struct rdma_event_channel *channel
#define ID struct rdma_cm_id *id
#define PARAM struct rdma_conn_param *param
#define CONTEXT struct ibv_context *context
#define COMP struct ibv_comp_channel *comp
#define PD struct ibv_pd *pd
#define CQ struct ibv_cq *cq
#define QP struct ibv_qp *qp

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
WRAP(int, signalfd, (int fd, const sigset_t *signals, int flags),
     (fd, signals, flags), -1, true)
WRAP(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), -1, true)
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags),
     (fd, msg, flags), -1, true)
WRAP(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags),
     (fd, msg, flags), -1, true)

WRAP(struct ibv_device **, ibv_get_device_list, (int *n), (n), NULL, ret)
WRAP(struct ibv_context *, ibv_open_device, (struct ibv_device * device),
     (device), NULL, ret)
WRAP_END(ibv_close_device, (CONTEXT), (context), -1)
WRAP(int, ibv_modify_qp, (QP, struct ibv_qp_attr *attr, int mask),
     (qp, attr, mask), EIO, true)
WRAP(int, socket, (int family, int type, int protocol),
     (family, type, protocol), -1, true)
WRAP(int, bind, (int fd, const struct sockaddr *addr, socklen_t size),
     (fd, addr, size), -1, true)
WRAP(int, listen, (int fd, int backlog), (fd, backlog), -1, true)
WRAP(int, accept, (int fd, struct sockaddr *addr, socklen_t *size),
     (fd, addr, size), -1, true)
WRAP(int, connect, (int fd, const struct sockaddr *addr, socklen_t size),
     (fd, addr, size), -1, true)
WRAP(int, setsockopt,
     (int fd, int level, int name, const void *value, socklen_t size),
     (fd, level, name, value, size), -1, true)
WRAP(ssize_t, send, (int fd, const void *buf, size_t size, int flags),
     (fd, buf, size, flags), -1, true)
WRAP(ssize_t, recv, (int fd, void *buf, size_t size, int flags),
     (fd, buf, size, flags), -1, true)

/* OpenSSL's, without its header: many programs do without the library. */
WRAP(void *, SSL_CTX_new, (const void *method), (method), NULL, ret)
WRAP(void *, SSL_new, (void *ctx), (ctx), NULL, ret)
WRAP(int, SSL_connect, (void *ssl), (ssl), -1, ret == 1)
WRAP(int, SSL_accept, (void *ssl), (ssl), -1, ret == 1)
WRAP(int, SSL_write, (void *ssl, const void *buf, int size), (ssl, buf, size),
     -1, true)
WRAP(int, SSL_read, (void *ssl, void *buf, int size), (ssl, buf, size), -1,
     ret > 0)
WRAP(int, RAND_bytes, (unsigned char *buf, int size), (buf, size), 0, true)

WRAP_OP(post_send, (QP, struct ibv_send_wr *wr, struct ibv_send_wr **bad),
	(qp, wr, bad), EIO, true)
WRAP_OP(post_recv, (QP, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad),
	(qp, wr, bad), EIO, true)
WRAP_OP(req_notify_cq, (CQ, int solicited), (cq, solicited), EIO, true)
WRAP_OP(poll_cq, (CQ, int n, struct ibv_wc *wc), (cq, n, wc), -1, ret > 0)

/* Puts the four above where the inline functions of verbs.h find them. */
static void hook(struct ibv_context *context)
{
	if (context->ops.poll_cq == poll_cq)
		return;
	real_post_send = context->ops.post_send;
	real_post_recv = context->ops.post_recv;
	real_req_notify_cq = context->ops.req_notify_cq;
	real_poll_cq = context->ops.poll_cq;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.req_notify_cq = req_notify_cq;
	context->ops.poll_cq = poll_cq;
}

/* A program that uses any of those allocates a protection domain first. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	static int count;
	FIND(ibv_alloc_pd);

	if (at_call("ibv_alloc_pd", count + 1, true))
		return NULL;
	/* librdmacm allocates one as well. */
	count += !depth;
	hook(context);
	return real(context);
}

/* verbs.h makes one of two functions of it, as the access flags are known. */
#undef ibv_reg_mr
static int registered;

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	FIND(ibv_reg_mr);
	if (at_call("ibv_reg_mr", ++registered, true))
		return NULL;
	return real(pd, addr, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	FIND(ibv_reg_mr_iova2);
	if (at_call("ibv_reg_mr", ++registered, true))
		return NULL;
	return real(pd, addr, length, iova, access);
}

/* Not made to fail: the program would have to lose the memory on purpose. */
int ibv_dereg_mr(struct ibv_mr *mr)
{
	static int count;
	FIND(ibv_dereg_mr);
	at_call("ibv_dereg_mr", ++count, false);
	return real(mr);
}
