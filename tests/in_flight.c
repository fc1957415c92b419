/*
 * in_flight.c - sees memory that is changed while a request still uses it
 *
 * Preloaded into a program. Remembers what each small, unsignalled WRITE is to send,
 * unless its bytes are copied at posting (inline), and looks at the next posts
 * whether that is still there. A request is over when a signalled one that was posted
 * after it is complete. For programs with one queue pair and one thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#define SMALL 64
#define REQUESTS 4096

static struct request {
	const void *memory;
	unsigned int length;
	char bytes[SMALL];
	unsigned long before; /* signalled ones that were posted before it */
} requests[REQUESTS];
static unsigned int count;
static unsigned long signalled, complete;

static struct ibv_context_ops real_ops;

static void look(void)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (complete > requests[i].before)
			continue;
		if (memcmp(requests[i].memory, requests[i].bytes,
			   requests[i].length)) {
			fprintf(stderr, "in_flight: memory was changed\n");
			continue;
		}
		requests[kept++] = requests[i];
	}
	count = kept;
}

static void remember(const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	struct request *request = &requests[count];

	if (wr->send_flags & IBV_SEND_SIGNALED) {
		signalled++;
		return;
	}
	if (wr->opcode != IBV_WR_RDMA_WRITE || wr->num_sge != 1 ||
	    sge->length > SMALL || wr->send_flags & IBV_SEND_INLINE ||
	    count == REQUESTS)
		return;
	request->memory = (void *)(uintptr_t)sge->addr;
	request->length = sge->length;
	memcpy(request->bytes, request->memory, sge->length);
	request->before = signalled;
	count++;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	look();
	for (const struct ibv_send_wr *each = wr; each; each = each->next)
		remember(each);
	return real_ops.post_send(qp, wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int ret = real_ops.poll_cq(cq, n, wc);

	for (int i = 0; i < ret; i++)
		complete += wc[i].status == IBV_WC_SUCCESS &&
			    !(wc[i].opcode & IBV_WC_RECV);
	return ret;
}

/* A program that posts anything allocates a protection domain first. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *(*real)(struct ibv_context *) =
		dlsym(RTLD_NEXT, "ibv_alloc_pd");

	if (!real) {
		fprintf(stderr, "in_flight: no ibv_alloc_pd\n");
		_Exit(97);
	}
	if (context->ops.post_send != post_send) {
		real_ops = context->ops;
		context->ops.post_send = post_send;
		context->ops.poll_cq = poll_cq;
	}
	return real(context);
}
