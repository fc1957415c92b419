/*
 * trace_calls.c - in which order a program makes its RDMA calls
 *
 * Preloaded into a chapter's program, before other such libraries. Each line of
 * the file TRACE is a call that did what it should:
 *
 *   post        a request was posted that will report
 *   poll        a completion was taken
 *   arm, event  ibv_req_notify_cq(), ibv_get_cq_event()
 *   reg ACCESS  a memory region was registered; dereg: it is to be deregistered
 *   id+, id-    a CM id of the program's own was created, or is to be destroyed
 *
 * For programs with one connection at a time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/* A test that is set up wrongly must not look like one that passed. */
static void give_up(const char *why)
{
	fprintf(stderr, "trace_calls: %s\n", why);
	_exit(97);
}

static void *find(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		give_up(name);
	return function;
}

__attribute__((format(printf, 1, 2))) static void trace(const char *fmt, ...)
{
	const char *path = getenv("TRACE");
	va_list args;
	int fd;

	if (!path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	va_start(args, fmt);
	if (fd < 0 || vdprintf(fd, fmt, args) < 0 || close(fd))
		give_up("cannot write TRACE");
	va_end(args);
}

static struct ibv_context_ops real_ops;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct ibv_send_wr *first = wr;
	int ret = real_ops.post_send(qp, wr, bad);

	for (wr = first; wr && !ret; wr = wr->next)
		if (wr->send_flags & IBV_SEND_SIGNALED)
			trace("post\n");
	return ret;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	struct ibv_recv_wr *first = wr;
	int ret = real_ops.post_recv(qp, wr, bad);

	for (wr = first; wr && !ret; wr = wr->next)
		trace("post\n");
	return ret;
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wcs)
{
	int n = real_ops.poll_cq(cq, max, wcs);

	for (int i = 0; i < n; i++)
		trace("poll\n");
	return n;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	trace("arm\n");
	return real_ops.req_notify_cq(cq, solicited);
}

/* Puts the four above where the inline functions of verbs.h find them. */
static void hook(struct ibv_context *context)
{
	real_ops = context->ops;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.poll_cq = poll_cq;
	context->ops.req_notify_cq = req_notify_cq;
}

/* A program that uses any of those allocates a protection domain first. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *(*real)(struct ibv_context *) = find("ibv_alloc_pd");
	struct ibv_pd *pd;

	/* Another such library must find what it left there. */
	if (context->ops.post_send == post_send)
		context->ops = real_ops;
	pd = real(context);
	hook(context);
	return pd;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **user)
{
	int (*real)(struct ibv_comp_channel *, struct ibv_cq **, void **) =
		find("ibv_get_cq_event");
	int ret = real(channel, cq, user);

	if (!ret)
		trace("event\n");
	return ret;
}

static _Thread_local int inside;

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, uint64_t,
			       unsigned int) = find("ibv_reg_mr_iova2");

	struct ibv_mr *mr;

	if (!inside)
		trace("reg %u\n", access);
	/* One of the two calls the other, whose line would be a second. */
	inside++;
	mr = real(pd, addr, length, iova, access);
	inside--;
	return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, int) =
		find("ibv_reg_mr");

	struct ibv_mr *mr;

	if (!inside)
		trace("reg %d\n", access);
	inside++;
	mr = real(pd, addr, length, access);
	inside--;
	return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int (*real)(struct ibv_mr *) = find("ibv_dereg_mr");

	trace("dereg\n");
	return real(mr);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
		   void *user, enum rdma_port_space space)
{
	int (*real)(struct rdma_event_channel *, struct rdma_cm_id **, void *,
		    enum rdma_port_space) = find("rdma_create_id");
	int ret = real(channel, id, user, space);

	if (!ret)
		trace("id+\n");
	return ret;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	int (*real)(struct rdma_cm_id *) = find("rdma_destroy_id");

	trace("id-\n");
	return real(id);
}
