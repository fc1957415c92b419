/*
 * receives.c - the receives that all clients share
 */
#include "receives.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "log.h"

/* Receives that are allocated, registered and posted at a time. */
#define CHUNK 256

/* Fewer than this in the SRQ, and the device says so. */
#define LIMIT (CHUNK / 4)

struct chunk {
	struct chunk *next;
	struct ibv_mr *mr;
	char memory[];
};

/* How far one receive is from the next: wr_id needs its lowest bits. */
static size_t stride(const struct receives *receives)
{
	return (sizeof(struct receive) + receives->size + WORK_MASK) &
	       ~(size_t)WORK_MASK;
}

static struct receive *receive_at(const struct receives *receives,
				  struct chunk *chunk, unsigned int i)
{
	return (void *)(chunk->memory + i * stride(receives));
}

static int post(struct receives *receives, struct receive *receive)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)receive->bytes,
		.length = receives->size,
		.lkey = receive->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = (uintptr_t)receive->bytes,
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
	size_t size = CHUNK * stride(receives);
	struct chunk *chunk = calloc(1, sizeof(*chunk) + size);

	if (!chunk)
		return log_fail_errno("calloc", errno, "%zu bytes", size);
	chunk->mr = ibv_reg_mr(receives->pd, chunk->memory, size,
			       IBV_ACCESS_LOCAL_WRITE);
	if (!chunk->mr) {
		free(chunk);
		return log_fail_errno(
			"ibv_reg_mr", errno,
			"%zu bytes: this memory is locked, and `ulimit -l` says how much of it a process may have [docs/troubleshooting.md#memlock]",
			size);
	}
	chunk->next = receives->chunks;
	receives->chunks = chunk;
	for (unsigned int i = 0; i < CHUNK; i++) {
		struct receive *receive = receive_at(receives, chunk, i);

		receive->mr = chunk->mr;
		if (post(receives, receive))
			return -1;
		receives->count++;
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
	if (add_chunk(receives))
		return -1;
	return arm(receives);
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
	struct chunk *chunk, *next;
	int err = 0;

	if (receives->srq && (err = ibv_destroy_srq(receives->srq)))
		log_fail_errno("ibv_destroy_srq", err,
			       "does a queue pair still have it");
	/* While it exists, the device may write to the memory. */
	for (chunk = err ? NULL : receives->chunks; chunk; chunk = next) {
		next = chunk->next;
		if ((err = ibv_dereg_mr(chunk->mr)))
			log_fail_errno("ibv_dereg_mr", err,
				       "its memory is not freed");
		else
			free(chunk);
	}
	*receives = (struct receives){ 0 };
}
