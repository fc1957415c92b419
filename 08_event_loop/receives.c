/*
 * receives.c - the receives that all clients share
 */
#include "receives.h"

#include <errno.h>

#include "log.h"

/* The device says so when the SRQ has fewer than this. */
#define LIMIT (RECEIVES_CHUNK / 4)

static int post(struct receives *receives, struct receive *receive)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)receive->bytes,
		.length = sizeof(receive->bytes),
		.lkey = receive->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = (uintptr_t)receive + WORK_RECEIVE,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err = ibv_post_srq_recv(receives->srq, &wr, &bad);

	if (err)
		return log_fail_errno(
			"ibv_post_srq_recv", err,
			"are more posted than the SRQ has room for [docs/troubleshooting.md#post]");
	return 0;
}

/* Adds one chunk, and posts all of it. */
static int add_chunk(struct receives *receives)
{
	struct region *chunk =
		&receives->chunks[receives->count / RECEIVES_CHUNK];
	struct receive *receive;

	if (region_open(chunk, receives->srq->pd,
			RECEIVES_CHUNK * sizeof(*receive),
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	receive = (void *)chunk->buf;
	for (int i = 0; i < RECEIVES_CHUNK; i++, receives->count++) {
		receive[i].mr = chunk->mr;
		if (post(receives, &receive[i]))
			return -1;
	}
	return 0;
}

/* Asks the device to tell, once, when the SRQ has few receives left. */
static int arm(struct receives *receives)
{
	struct ibv_srq_attr attr = { .srq_limit = LIMIT };
	int err = ibv_modify_srq(receives->srq, &attr, IBV_SRQ_LIMIT);

	if (err)
		return log_fail_errno("ibv_modify_srq", err,
				      "nobody would tell when it runs dry");
	return 0;
}

int receives_open(struct receives *receives, struct ibv_pd *pd)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = RECEIVES, .max_sge = 1 },
	};

	receives->srq = ibv_create_srq(pd, &attr);
	if (!receives->srq)
		return log_fail_errno(
			"ibv_create_srq", errno,
			"%d receives; see max_srq and max_srq_wr in `ibv_devinfo -v`",
			RECEIVES);
	return receives_grow(receives);
}

int receives_grow(struct receives *receives)
{
	if (receives->count == RECEIVES) {
		log_line("receives: %u, and no more are allowed.",
			 receives->count);
		return 0;
	}
	return add_chunk(receives) ? -1 : arm(receives);
}

struct receive *receives_find(uint64_t wr_id)
{
	return (void *)(uintptr_t)(wr_id & ~(uint64_t)WORK_MASK);
}

void receives_release(struct receives *receives, struct receive *receive)
{
	if (!--receive->users)
		post(receives, receive);
}

void receives_close(struct receives *receives)
{
	int err = 0;

	if (receives->srq && (err = ibv_destroy_srq(receives->srq)))
		log_fail_errno("ibv_destroy_srq", err,
			       "does a queue pair still have it");
	/* While it exists, the device may write to the memory. */
	for (int i = 0; !err && i < RECEIVES / RECEIVES_CHUNK; i++)
		region_close(&receives->chunks[i]);
	*receives = (struct receives){ 0 };
}
