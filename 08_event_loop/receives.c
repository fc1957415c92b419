/*
 * receives.c - the receives that all clients share
 */
#include "receives.h"

#include <errno.h>
#include <stdlib.h>

#include "log.h"

/* Receives that are allocated, registered and posted at a time. */
#define CHUNK 256

/* Fewer than this in the SRQ, and the device says so. */
#define LIMIT (CHUNK / 4)

/* How far one receive is from the next: wr_id needs its lowest bits. */
static size_t stride(const struct receives *receives)
{
	return (sizeof(struct receive) + receives->size + WORK_MASK) &
	       ~(size_t)WORK_MASK;
}

static int post(struct receives *receives, struct receive *receive)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)receive->bytes,
		.length = receives->size,
		.lkey = receive->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = (uintptr_t)receive->bytes + WORK_RECEIVE,
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

/* One chunk more, all of it posted. */
static int add_chunk(struct receives *receives)
{
	struct region *chunk = &receives->chunks[receives->count / CHUNK];

	if (region_open(chunk, receives->pd, CHUNK * stride(receives),
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	for (unsigned int i = 0; i < CHUNK; i++, receives->count++) {
		struct receive *receive =
			(void *)(chunk->buf + i * stride(receives));

		receive->mr = chunk->mr;
		if (post(receives, receive))
			return -1;
	}
	return 0;
}

/* The device tells once that the SRQ has few receives left; then ask again. */
static int arm(struct receives *receives)
{
	struct ibv_srq_attr attr = { .srq_limit = LIMIT };
	int err = ibv_modify_srq(receives->srq, &attr, IBV_SRQ_LIMIT);

	if (err)
		return log_fail_errno("ibv_modify_srq", err,
				      "nobody would tell when it runs dry");
	return 0;
}

int receives_open(struct receives *receives, struct ibv_pd *pd, size_t size,
		  unsigned int most)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = most, .max_sge = 1 },
	};

	receives->pd = pd;
	receives->size = size;
	receives->most = most;
	receives->chunks = calloc(most / CHUNK, sizeof(*receives->chunks));
	if (!receives->chunks)
		return log_fail_errno("calloc", errno, "%u receives", most);
	receives->srq = ibv_create_srq(pd, &attr);
	if (!receives->srq)
		return log_fail_errno(
			"ibv_create_srq", errno,
			"%u receives; see max_srq and max_srq_wr in `ibv_devinfo -v`",
			most);
	return receives_grow(receives);
}

int receives_grow(struct receives *receives)
{
	if (receives->count + CHUNK > receives->most) {
		log_line("receives: %u, and no more are allowed.",
			 receives->count);
		return 0;
	}
	return add_chunk(receives) ? -1 : arm(receives);
}

struct receive *receives_find(uint64_t wr_id)
{
	char *bytes = (char *)(uintptr_t)(wr_id & ~(uint64_t)WORK_MASK);

	return (void *)(bytes - offsetof(struct receive, bytes));
}

int receives_release(struct receives *receives, struct receive *receive)
{
	return --receive->users ? 0 : post(receives, receive);
}

void receives_close(struct receives *receives)
{
	int err = 0;

	if (receives->srq && (err = ibv_destroy_srq(receives->srq)))
		log_fail_errno("ibv_destroy_srq", err,
			       "does a queue pair still have it");
	/* While it exists, the device may write to the memory. */
	for (unsigned int i = 0; !err && i < receives->most / CHUNK; i++)
		if (receives->chunks)
			region_close(&receives->chunks[i]);
	free(receives->chunks);
	*receives = (struct receives){ 0 };
}
