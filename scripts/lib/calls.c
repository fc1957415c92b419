/*
 * calls.c - writes down what a program asks of libibverbs and librdmacm
 *
 * Preloaded by the check of an exercise (witness() in judge.sh), and by tests. Appends
 * a line for each call to the file $CALLS: what an exercise asks for may be invisible
 * in what both ends say, such as three sends that are posted before the first
 * of them is complete. With $CALLS_HOLD, rdma_accept() returns only when that
 * file exists: by then the peer has done what it could.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
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
static struct ibv_context_ops real_ops;

/* What a send says, as far as it fits: "", " bytes=00ff". */
static const char *said(const struct ibv_send_wr *wr, char hex[80])
{
	const struct ibv_sge *sge = wr->sg_list;
	size_t n = sprintf(hex, " bytes=");

	if (wr->opcode != IBV_WR_SEND || wr->num_sge < 1)
		return "";
	for (size_t i = 0; i < sge->length && i < 32; i++)
		n += sprintf(hex + n, "%02x",
			     ((uint8_t *)(uintptr_t)sge->addr)[i]);
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
	int ret, count = 0;

	for (struct ibv_send_wr *each = wr; each; each = each->next, count++)
		tell("post_send opcode=%d%s length=%u\n", each->opcode,
		     said(each, hex), length_of(each));
	if (count > 1)
		tell("with one call: %d\n", count);
	ret = real_ops.post_send(qp, wr, bad);
	/* Of several, some may be: nobody asks for that. */
	if (ret)
		tell("not posted\n");
	return ret;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	for (struct ibv_recv_wr *each = wr; each; each = each->next)
		tell("post_recv\n");
	return real_ops.post_recv(qp, wr, bad);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	for (struct ibv_recv_wr *each = wr; each; each = each->next)
		tell("post_srq_recv\n");
	return real_ops.post_srq_recv(srq, wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int ret = real_ops.poll_cq(cq, n, wc);

	if (ret > 0)
		tell("polled %d\n", ret);
	for (int i = 0; i < ret; i++)
		tell("completion status=%d opcode=%d\n", wc[i].status,
		     wc[i].status ? -1 : (int)wc[i].opcode);
	return ret;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	tell("req_notify_cq\n");
	return real_ops.req_notify_cq(cq, solicited_only);
}

/* Whoever uses any of those allocates a protection domain first. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct ibv_pd *(*real)(struct ibv_context *) = find("ibv_alloc_pd");
	struct ibv_pd *pd;

	/* Or a thread could take for real what another has just put there. */
	pthread_mutex_lock(&lock);
	/* Another such library must find what it left there. */
	if (context->ops.poll_cq == poll_cq)
		context->ops = real_ops;
	tell("alloc_pd\n");
	pd = real(context);
	real_ops = context->ops;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.post_srq_recv = post_srq_recv;
	context->ops.poll_cq = poll_cq;
	context->ops.req_notify_cq = req_notify_cq;
	pthread_mutex_unlock(&lock);
	return pd;
}

/* A call that is made, and what is told of it before and after: ret is its result. */
#define CALL(type, name, params, args, before, after) \
	type name params                              \
	{                                             \
		typeof(&name) real = find(#name);     \
		type ret;                             \
                                                      \
		before;                               \
		ret = real args;                      \
		after;                                \
		return ret;                           \
	}

CALL(int, ibv_dealloc_pd, (struct ibv_pd * pd), (pd), ,
     tell("dealloc_pd %d\n", ret))

/*
 * verbs.h makes one of two functions of it. The first only calls the second, as it does
 * here, so that it is told of once. The page's compiler has no variables of a thread.
 */
CALL(struct ibv_mr *, ibv_reg_mr_iova2,
     (struct ibv_pd * pd, void *addr, size_t length, uint64_t iova,
      unsigned int access),
     (pd, addr, length, iova, access),
     tell("reg_mr bytes=%zu access=0x%x\n", length, access), )

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access);
}

CALL(int, ibv_dereg_mr, (struct ibv_mr * mr), (mr), ,
     tell("dereg_mr %d\n", ret))
CALL(struct ibv_cq *, ibv_create_cq,
     (struct ibv_context * context, int entries, void *user,
      struct ibv_comp_channel *channel, int vector),
     (context, entries, user, channel, vector),
     tell("create_cq entries=%d\n", entries), )
/* It may wait without limit, so it is told of before. */
CALL(int, ibv_destroy_cq, (struct ibv_cq * cq), (cq), tell("destroy_cq\n"), )
CALL(struct ibv_srq *, ibv_create_srq,
     (struct ibv_pd * pd, struct ibv_srq_init_attr *attr), (pd, attr),
     tell("create_srq receives=%u\n", attr->attr.max_wr), )
CALL(int, ibv_get_cq_event,
     (struct ibv_comp_channel * channel, struct ibv_cq **cq, void **user),
     (channel, cq, user), , ret ? (void)0 : tell("get_cq_event\n"))
CALL(int, rdma_get_cm_event,
     (struct rdma_event_channel * channel, struct rdma_cm_event **event),
     (channel, event), ,
     ret ? (void)0 : tell("get_cm_event event=%d\n", (*event)->event))
CALL(int, rdma_ack_cm_event, (struct rdma_cm_event * event), (event),
     tell("ack_cm_event\n"), )
CALL(int, rdma_create_id,
     (struct rdma_event_channel * channel, struct rdma_cm_id **id, void *user,
      enum rdma_port_space space),
     (channel, id, user, space), , tell("create_id %d\n", ret))
CALL(int, rdma_destroy_id, (struct rdma_cm_id * id), (id), ,
     tell("destroy_id %d\n", ret))
CALL(int, rdma_create_qp,
     (struct rdma_cm_id * id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr),
     (id, pd, attr),
     tell("create_qp sends=%u receives=%u\n", attr->cap.max_send_wr,
	  attr->cap.max_recv_wr), )
CALL(int, rdma_connect, (struct rdma_cm_id * id, struct rdma_conn_param *param),
     (id, param),
     tell("connect rnr_retry_count=%d\ntries retry_count=%d\n"
	  "asks for reads=%d\n",
	  param ? param->rnr_retry_count : -1, param ? param->retry_count : 7,
	  param ? param->initiator_depth : -1), )

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	typeof(&rdma_accept) real = find("rdma_accept");
	const char *hold = getenv("CALLS_HOLD");
	int ret;

	tell("accept rnr_retry_count=%d\n",
	     param ? param->rnr_retry_count : -1);
	ret = real(id, param);
	/* But not for ever. */
	for (int ms = 0; hold && access(hold, F_OK) && ms < HOLD_MS; ms += 20)
		((typeof(&poll))find("poll"))(NULL, 0, 20);
	return ret;
}

/* What is not in the mask is -1. */
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	typeof(&ibv_modify_qp) real = find("ibv_modify_qp");

	tell("modify_qp state=%d access=%d reads=%d psn=%d\n",
	     mask & IBV_QP_STATE ? (int)attr->qp_state : -1,
	     mask & IBV_QP_ACCESS_FLAGS ? (int)attr->qp_access_flags : -1,
	     mask & IBV_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic : -1,
	     mask & IBV_QP_SQ_PSN ? (int)attr->sq_psn : -1);
	if (mask & IBV_QP_RETRY_CNT)
		tell("tries retry_count=%d timeout=%d rnr_retry=%d\n",
		     attr->retry_cnt, attr->timeout, attr->rnr_retry);
	return real(qp, attr, mask);
}

/* Only what the kernel does not take: most messages are of no interest. */
CALL(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags),
     (fd, msg, flags), , ret < 0 ? tell("sendmsg errno=%d\n", errno) : (void)0)

/* Whoever waits in one of these waits for time to pass, and for nothing else. */
CALL(unsigned int, sleep, (unsigned int seconds), (seconds), tell("sleep\n"), )
CALL(int, usleep, (useconds_t us), (us), tell("sleep\n"), )
CALL(int, nanosleep, (const struct timespec *time, struct timespec *left),
     (time, left), tell("sleep\n"), )
CALL(int, select,
     (int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *time),
     (n, in, out, other, time), n ? (void)0 : tell("sleep\n"), )

/* Under another name, since gcc takes it that poll() only writes to fds. */
int call_poll(struct pollfd *fds, nfds_t n, int ms) __asm__("poll");
int call_poll(struct pollfd *fds, nfds_t n, int ms)
{
	bool any = false;

	/* Descriptors below 0 are none. */
	for (nfds_t i = 0; i < n; i++)
		any |= fds[i].fd >= 0;
	if (ms && !any)
		tell("sleep\n");
	return ((typeof(&poll))find("poll"))(fds, n, ms);
}
