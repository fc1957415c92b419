/*
 * calls.c - writes down what a program asks of libibverbs and librdmacm
 *
 * Preloaded by the check of an exercise (witness() in judge.sh). Appends a line
 * for each call to the file $CALLS: what an exercise asks for may be invisible
 * in what both ends say, such as three sends that are posted before the first
 * of them is complete. With $CALLS_HOLD, rdma_accept() returns only when that
 * file exists: by then the peer has done what it could.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define HOLD_MS 20000

static void give_up(const char *why)
{
	fprintf(stderr, "calls: %s\n", why);
	_exit(97);
}

static void *find(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		give_up(name);
	return function;
}

/* Whole lines, from all threads, and errno is as it was. */
static void __attribute__((format(printf, 1, 2))) tell(const char *fmt, ...)
{
	const char *path = getenv("CALLS");
	int err = errno, fd;
	va_list args;

	if (!path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		give_up(path);
	va_start(args, fmt);
	vdprintf(fd, fmt, args);
	va_end(args);
	close(fd);
	errno = err;
}

/* What verbs.h calls through the context. */
static int (*real_post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad);
static int (*real_post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad);
static int (*real_post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
				 struct ibv_recv_wr **bad);
static int (*real_poll_cq)(struct ibv_cq *cq, int n, struct ibv_wc *wc);

/* What a send says, as far as it fits: "", " bytes=00ff". */
static const char *said(const struct ibv_send_wr *wr, char hex[80])
{
	const struct ibv_sge *sge = wr->sg_list;
	size_t n = sprintf(hex, " bytes=");

	if (wr->opcode != IBV_WR_SEND || wr->num_sge < 1)
		return "";
	for (size_t i = 0; i < sge->length && i < 32; i++)
		n += sprintf(hex + n, "%02x", ((uint8_t *)sge->addr)[i]);
	return hex;
}

static unsigned int length_of(const struct ibv_send_wr *wr)
{
	unsigned int length = 0;

	for (int i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return length;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	char hex[80];

	for (struct ibv_send_wr *each = wr; each; each = each->next)
		tell("post_send opcode=%d%s length=%u\n", each->opcode,
		     said(each, hex), length_of(each));
	return real_post_send(qp, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	for (struct ibv_recv_wr *each = wr; each; each = each->next)
		tell("post_recv\n");
	return real_post_recv(qp, wr, bad);
}

/* With where it goes: two queues have two addresses. */
static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	for (struct ibv_recv_wr *each = wr; each; each = each->next)
		tell("post_srq_recv srq=%p\n", (void *)srq);
	return real_post_srq_recv(srq, wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int ret = real_poll_cq(cq, n, wc);

	for (int i = 0; i < ret; i++)
		tell("completion status=%d opcode=%d\n", wc[i].status,
		     wc[i].status ? -1 : (int)wc[i].opcode);
	return ret;
}

/* Whoever uses any of those allocates a protection domain first. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *(*real)(struct ibv_context *) = find("ibv_alloc_pd");

	if (context->ops.poll_cq != poll_cq) {
		real_post_send = context->ops.post_send;
		real_post_recv = context->ops.post_recv;
		real_post_srq_recv = context->ops.post_srq_recv;
		real_poll_cq = context->ops.poll_cq;
		context->ops.post_send = post_send;
		context->ops.post_recv = post_recv;
		context->ops.post_srq_recv = post_srq_recv;
		context->ops.poll_cq = poll_cq;
	}
	return real(context);
}

/* verbs.h makes one of two functions of it, as the access flags are known. */
#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	typeof(&ibv_reg_mr) real = find("ibv_reg_mr");

	tell("reg_mr bytes=%zu access=0x%x\n", length, access);
	return real(pd, addr, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	typeof(&ibv_reg_mr_iova2) real = find("ibv_reg_mr_iova2");

	tell("reg_mr bytes=%zu access=0x%x\n", length, access);
	return real(pd, addr, length, iova, access);
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *attr)
{
	typeof(&rdma_create_qp) real = find("rdma_create_qp");

	tell("create_qp sends=%u receives=%u\n", attr->cap.max_send_wr,
	     attr->cap.max_recv_wr);
	return real(id, pd, attr);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	typeof(&rdma_connect) real = find("rdma_connect");

	tell("connect rnr_retry_count=%d\n",
	     param ? param->rnr_retry_count : -1);
	return real(id, param);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	typeof(&rdma_accept) real = find("rdma_accept");
	const char *hold = getenv("CALLS_HOLD");
	int ret;

	tell("accept rnr_retry_count=%d\n",
	     param ? param->rnr_retry_count : -1);
	ret = real(id, param);
	for (int ms = 0; hold && access(hold, F_OK) && ms < HOLD_MS; ms += 20)
		poll(NULL, 0, 20);
	return ret;
}
