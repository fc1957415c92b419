/*
 * shared.c - what all clients of a device share: a protection domain, a CQ, an SRQ
 */
#include "shared.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "explain.h"
#include "log.h"

/* The device says so when the SRQ has fewer than this. */
#define LIMIT (RECEIVES_CHUNK / 4)

/* ---- The receives ---- */

static int post(struct shared *shared, struct receive *receive)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)receive->came,
		.length = sizeof(receive->came),
		.lkey = receive->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = (uintptr_t)receive,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err = ibv_post_srq_recv(shared->srq, &wr, &bad);

	receive->number = ++shared->posted;
	return err ? explain_call("ibv_post_srq_recv", err) : 0;
}

/* Adds one chunk, and posts all of it. */
static int add_chunk(struct shared *shared)
{
	size_t size = (shared->chunk_count + 1) * sizeof(struct region);
	struct region *chunk = realloc(shared->chunks, size);
	struct receive *receive;

	if (!chunk)
		return explain_call("realloc", errno);
	shared->chunks = chunk;
	chunk += shared->chunk_count++;
	*chunk = (struct region){ 0 };
	if (region_open(chunk, &shared->all, RECEIVES_CHUNK * sizeof(*receive),
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	receive = chunk->buf;
	for (int i = 0; i < RECEIVES_CHUNK; i++, shared->count++) {
		receive[i].mr = chunk->mr;
		if (post(shared, &receive[i]))
			return -1;
	}
	return 0;
}

/* Asks the device to tell, once, when the SRQ has few receives left. */
static int set_limit(struct shared *shared)
{
	struct ibv_srq_attr attr = { .srq_limit = LIMIT };
	int err = ibv_modify_srq(shared->srq, &attr, IBV_SRQ_LIMIT);

	return err ? explain_call("ibv_modify_srq", err) : 0;
}

/* The SRQ has few receives left: posts more, and asks to be told again. */
static int grow(struct shared *shared)
{
	if (shared->wanted == RECEIVES) {
		log_line("receives: %u, and no more are allowed.",
			 shared->wanted);
		return 0;
	}
	if (add_chunk(shared))
		return -1;
	shared->wanted += RECEIVES_CHUNK;
	return set_limit(shared);
}

/*
 * The device takes receives in the order in which they were posted. So those before
 * the newest that has come back have been taken, and if they have not come back,
 * they are in the middle of a message, or lost.
 */
void receive_take(struct shared *shared, struct receive *receive)
{
	unsigned int missing;

	shared->back++;
	if (receive->number > shared->newest)
		shared->newest = receive->number;
	missing = shared->newest - shared->back;
	if (shared->count - missing + RECEIVES_CHUNK > shared->wanted)
		return;
	log_line("%u receives have not come back: posting others.", missing);
	/* A failure is reported. The receives that are there must do. */
	if (add_chunk(shared))
		shared->wanted -= RECEIVES_CHUNK;
}

void receive_back(struct shared *shared, struct receive *receive)
{
	/* One that was given up may come back late, to a full SRQ. */
	if (shared->posted - shared->newest < RECEIVES)
		post(shared, receive);
	else
		shared->count--;
}

/* ---- The queue pairs ---- */

static int compare(const void *one, const void *other)
{
	uint32_t a = ((const struct member *)one)->qp_num;
	uint32_t b = ((const struct member *)other)->qp_num;

	return a < b ? -1 : a > b;
}

int shared_add(struct shared *shared, struct member *member, uint32_t qp_num)
{
	member->qp_num = qp_num;
	return tsearch(member, &shared->members, compare) ?
		       0 :
		       explain_call("tsearch", ENOMEM);
}

struct member *shared_find(const struct shared *shared, uint32_t qp_num)
{
	struct member key = { .qp_num = qp_num };
	struct member **found = tfind(&key, &shared->members, compare);

	return found ? *found : NULL;
}

void shared_remove(struct shared *shared, const struct member *member)
{
	tdelete(member, &shared->members, compare);
}

/* ---- The completions ---- */

/* Asks for an event at the next completion: for one event, once. */
static int arm(struct shared *shared)
{
	int err = ibv_req_notify_cq(shared->all.cq, 0);

	return err ? explain_call("ibv_req_notify_cq", err) : 0;
}

/* The completion channel can be read. */
static int on_completions(void *owner)
{
	struct shared *shared = owner;
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(shared->all.comp, &cq, &context))
		return errno == EAGAIN ?
			       0 :
			       explain_call("ibv_get_cq_event", errno);
	/* ibv_destroy_cq() waits, without limit, until all are acknowledged. */
	ibv_ack_cq_events(cq, 1);
	/* Armed before it is polled: what comes in between makes an event. */
	shared->busy = true;
	return arm(shared);
}

int shared_poll(struct shared *shared, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(shared->all.cq, SHARED_POLL, wc);

	if (n < 0)
		return explain_call("ibv_poll_cq", 0);
	shared->polls++;
	shared->busy = n == SHARED_POLL;
	if (!shared->busy)
		shared->empty = shared->polls;
	return n;
}

void shared_mark(struct shared *shared, struct member *member)
{
	member->marked = shared->polls;
	/* As in the CQ's size: one completion of each receive. */
	member->due = shared->polls + shared->count / SHARED_POLL + 1;
	shared->busy = true;
}

/*
 * The specification has two ways (IBTA 10.3.1): the CQ was empty since then, or as
 * much was taken off it as it could hold. The first may never come.
 */
bool shared_is_drained(const struct shared *shared, const struct member *member)
{
	return shared->empty > member->marked || shared->polls >= member->due;
}

/* ---- The device's events ---- */

/* All messages of a queue pair are in the CQ by now: it is in the error state. */
static void on_last(struct shared *shared, uint32_t qp_num)
{
	struct member *member = shared_find(shared, qp_num);

	shared->tells = true;
	/* It may be told of more than once. */
	if (!member || member->last)
		return;
	member->last = true;
	shared_mark(shared, member);
}

/* What the device says of its own accord. */
static int on_event(void *owner)
{
	struct ibv_async_event event;
	struct shared *shared = owner;

	if (ibv_get_async_event(shared->verbs, &event))
		return errno == EAGAIN ?
			       0 :
			       explain_call("ibv_get_async_event", errno);
	if (event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
		on_last(shared, event.element.qp->qp_num);
	/* ibv_destroy_qp() and ibv_destroy_srq() wait for this. */
	ibv_ack_async_event(&event);
	switch (event.event_type) {
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		log_line("few receives are left of %u: posting more.",
			 shared->count);
		/* A failure is reported. The receives that are there must do. */
		(void)grow(shared);
		return 0;
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_DEVICE_FATAL:
		return log_fail(
			"asynchronous event: %s: all clients are lost [docs/troubleshooting.md#cq-overrun]",
			ibv_event_type_str(event.event_type));
	default:
		/* Of a queue pair: the CM and our completions say it, too. */
		return 0;
	}
}

/* ---- From nothing to all of it, and back ---- */

static int create_cq(struct shared *shared)
{
	/*
	 * Each receive is posted, or its echo is: one completion will come. The chunk
	 * is for those that were given up, and come back after all.
	 */
	unsigned int entries = RECEIVES + RECEIVES_CHUNK;
	struct conn *all = &shared->all;

	all->pd = ibv_alloc_pd(shared->verbs);
	if (!all->pd)
		return explain_call("ibv_alloc_pd", errno);
	all->comp = ibv_create_comp_channel(shared->verbs);
	if (!all->comp)
		return explain_call("ibv_create_comp_channel", errno);
	if (wait_nonblocking(all->comp->fd, "ibv_create_comp_channel"))
		return -1;
	all->cq = ibv_create_cq(shared->verbs, entries, NULL, all->comp, 0);
	if (!all->cq)
		return explain_call("ibv_create_cq", errno);
	shared->completions =
		(struct watch){ all->comp->fd, on_completions, shared };
	return loop_add(shared->loop, &shared->completions) || arm(shared);
}

static int create_srq(struct shared *shared)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = RECEIVES, .max_sge = 1 },
	};

	shared->srq = ibv_create_srq(shared->all.pd, &attr);
	if (!shared->srq)
		return explain_call("ibv_create_srq", errno);
	return grow(shared);
}

int shared_open(struct shared *shared, struct loop *loop,
		struct ibv_context *verbs)
{
	shared->loop = loop;
	shared->verbs = verbs;
	if (create_cq(shared) || create_srq(shared) ||
	    wait_nonblocking(verbs->async_fd, "the device"))
		return -1;
	/* Last, since the device's descriptor outlives what has failed. */
	shared->events = (struct watch){ verbs->async_fd, on_event, shared };
	return loop_add(loop, &shared->events);
}

void shared_close(struct shared *shared)
{
	int err;

	if (shared->srq && (err = ibv_destroy_srq(shared->srq)))
		explain_call("ibv_destroy_srq", err);
	for (unsigned int i = 0; i < shared->chunk_count; i++)
		region_close(&shared->chunks[i]);
	free(shared->chunks);
	conn_close(&shared->all);
}
