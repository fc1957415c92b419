/*
 * receives.c - the receives that all clients share
 */
#include "receives.h"

#include <errno.h>
#include <stdlib.h>

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

	receive->number = ++receives->posted;
	if (err)
		return log_fail_errno(
			"ibv_post_srq_recv", err,
			"are more posted than the SRQ has room for [docs/troubleshooting.md#post]");
	return 0;
}

/* Adds one chunk, and posts all of it. */
static int add_chunk(struct receives *receives)
{
	size_t size = (receives->chunk_count + 1) * sizeof(struct region);
	struct region *chunk = realloc(receives->chunks, size);
	struct receive *receive;

	if (!chunk)
		return log_fail_errno("realloc", errno, "%zu bytes", size);
	receives->chunks = chunk;
	chunk += receives->chunk_count++;
	*chunk = (struct region){ 0 };
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
	if (receives->wanted == RECEIVES) {
		log_line("receives: %u, and no more are allowed.",
			 receives->wanted);
		return 0;
	}
	if (add_chunk(receives))
		return -1;
	receives->wanted += RECEIVES_CHUNK;
	return arm(receives);
}

/*
 * The device takes receives in the order in which they were posted. So those before
 * the newest that has come back have been taken, and if they have not come back,
 * they are in the middle of a message, or lost.
 */
static unsigned int missing(const struct receives *receives)
{
	return receives->newest - receives->back;
}

void receives_take(struct receives *receives, struct receive *receive)
{
	unsigned int here;

	receive->users = 1;
	receives->back++;
	if (receive->number > receives->newest)
		receives->newest = receive->number;
	here = receives->count - missing(receives);
	if (here + RECEIVES_CHUNK > receives->wanted)
		return;
	log_line("%u receives have not come back: posting others.",
		 missing(receives));
	/* A failure is reported. The receives that are there must do. */
	if (add_chunk(receives))
		receives->wanted -= RECEIVES_CHUNK;
}

struct receive *receives_find(uint64_t wr_id)
{
	return (void *)(uintptr_t)(wr_id & ~(uint64_t)WORK_MASK);
}

void receives_release(struct receives *receives, struct receive *receive)
{
	if (--receive->users)
		return;
	/* One that was given up may come back late, to a full SRQ. */
	if (receives->posted - receives->newest < RECEIVES)
		post(receives, receive);
	else
		receives->count--;
}

void receives_close(struct receives *receives)
{
	int err = 0;

	if (receives->srq && (err = ibv_destroy_srq(receives->srq)))
		log_fail_errno("ibv_destroy_srq", err,
			       "does a queue pair still have it");
	/* While it exists, the device may write to the memory. */
	for (unsigned int i = 0; !err && i < receives->chunk_count; i++)
		region_close(&receives->chunks[i]);
	if (!err)
		free(receives->chunks);
	*receives = (struct receives){ 0 };
}
