/*
 * measure.c - the end that measures
 *
 * One thread has all connections, and polls: so what is measured is not how long
 * a thread sleeps.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "explain.h"
#include "iwarp.h"
#include "log.h"

#define BATCH 16 /* completions that are taken in one call */
#define WARM_UP 200

/* A request, and where its answer goes. */
struct slot {
	struct bucket copy;
	struct ask ask;
};

struct client {
	struct conn conn;
	struct region memory; /* slots */
	struct slot *slots; /* plan->depth of them */
	struct place place;
	int left[BENCH_DEPTH]; /* completions of that slot that are due */
	int key[BENCH_DEPTH]; /* that it asks for */
	int ready[BENCH_DEPTH], readies; /* slots that are free */
};

struct bench {
	const struct plan *plan;
	struct client clients[BENCH_CLIENTS];
	char keys[BENCH_KEYS][KEY_SIZE];
	uint32_t homes[BENCH_KEYS];
	int count, posted, done;
	int torn; /* READs that were not of one moment */
};

/* ---- One request ---- */

static int receive(struct client *client, int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)&client->slots[i].copy,
		.length = sizeof(union answer),
		.lkey = client->memory.mr->lkey,
	};
	struct ibv_recv_wr *bad,
		wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	int err = ibv_post_recv(client->conn.id->qp, &wr, &bad);

	client->conn.pending += !err;
	client->left[i]++;
	return err ? explain_call("ibv_post_recv", err) : 0;
}

/* Makes the request of a slot; its memory is named by sge. */
static struct ibv_send_wr request(const struct bench *bench,
				  struct client *client, int i,
				  struct ibv_sge *sge)
{
	struct ibv_send_wr wr = {
		.wr_id = i,
		.sg_list = sge,
		.num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct slot *slot = &client->slots[i];

	*sge = (struct ibv_sge){ (uintptr_t)&slot->copy, sizeof(slot->copy),
				 client->memory.mr->lkey };
	switch (bench->plan->way) {
	case PLAN_READ:
		wr.opcode = IBV_WR_RDMA_READ;
		wr.wr.rdma.remote_addr =
			client->place.table +
			bench->homes[client->key[i]] * sizeof(struct bucket);
		wr.wr.rdma.rkey = client->place.table_rkey;
		break;
	case PLAN_SEND:
		slot->ask.type = ASK_GET;
		memcpy(slot->ask.key, bench->keys[client->key[i]], KEY_SIZE);
		wr.opcode = IBV_WR_SEND;
		sge->addr = (uintptr_t)&slot->ask;
		sge->length = sizeof(slot->ask);
		break;
	case PLAN_ADD:
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = client->place.counter;
		wr.wr.atomic.rkey = client->place.counter_rkey;
		wr.wr.atomic.compare_add = 1;
		sge->length = sizeof(uint64_t);
		break;
	}
	return wr;
}

/* Posts n requests with one call. */
static int post(struct bench *bench, struct client *client, int n)
{
	struct ibv_send_wr *bad, wrs[BENCH_DEPTH];
	struct ibv_sge sges[BENCH_DEPTH];
	int err;

	for (int k = 0; k < n; k++) {
		int i = client->ready[--client->readies];

		client->key[i] = bench->plan->writes ?
					 0 :
					 (bench->posted + k) % BENCH_KEYS;
		if (bench->plan->way == PLAN_SEND && receive(client, i))
			return -1;
		client->left[i]++;
		wrs[k] = request(bench, client, i, &sges[k]);
		wrs[k].next = k + 1 < n ? &wrs[k + 1] : NULL;
	}
	err = ibv_post_send(client->conn.id->qp, wrs, &bad);
	/* From bad on, nothing was posted: that will never report. */
	client->conn.pending += err ? bad - wrs : n;
	bench->posted += n;
	return err ? explain_call("ibv_post_send", err) : 0;
}

/* Is it the value that was asked for, and of one moment? */
static int check(struct bench *bench, struct client *client, int i)
{
	const struct bucket *copy = &client->slots[i].copy;
	const struct entry *entry;

	if (bench->plan->way == PLAN_ADD || bench->plan->believes)
		return 0;
	if (bench->plan->way == PLAN_SEND)
		entry = (const struct entry *)copy;
	else
		entry = table_whole(copy);
	if (!entry)
		bench->torn++;
	else if (strcmp(entry->key, bench->keys[client->key[i]]))
		return log_fail("the value of another key has come");
	return 0;
}

/* ---- Many of them ---- */

/* Posts as long as a whole chain is free. */
static int refill(struct bench *bench, struct client *client)
{
	while (bench->posted < bench->count) {
		int n = bench->count - bench->posted;

		if (n > bench->plan->chain)
			n = bench->plan->chain;
		if (client->readies < n)
			break;
		if (post(bench, client, n))
			return -1;
	}
	return 0;
}

/* Without sleeping, unless nothing has come for very long. */
static int harvest(struct bench *bench, struct client *client, int polls)
{
	struct ibv_wc wcs[BATCH];
	int n = polls ? bench_take(&client->conn, wcs, BATCH, polls) :
			ibv_poll_cq(client->conn.cq, BATCH, wcs);

	if (n < 0)
		return -1;
	/* bench_take() has counted its own. */
	client->conn.pending -= polls ? 0 : n;
	for (int k = 0; k < n; k++) {
		int i = wcs[k].wr_id;

		if (wcs[k].status != IBV_WC_SUCCESS)
			return explain_completion("request", &wcs[k]);
		if (--client->left[i])
			continue;
		if (check(bench, client, i))
			return -1;
		client->ready[client->readies++] = i;
		bench->done++;
	}
	return n;
}

static int run(struct bench *bench, int count)
{
	int clients = bench->plan->clients, idle = 0, n;

	bench->count = count;
	bench->posted = bench->done = bench->torn = 0;
	while (bench->done < count)
		for (int c = 0; c < clients; c++) {
			struct client *client = &bench->clients[c];
			bool sleeps = ++idle > BENCH_POLLS;

			if (refill(bench, client))
				return -1;
			if (client->readies == bench->plan->depth)
				continue;
			n = harvest(bench, client, sleeps);
			if (n < 0)
				return -1;
			if (n > 0)
				idle = 0;
		}
	return 0;
}

/* ---- The connections ---- */

/* Waits until the completions of the first slot have come. */
static int await(struct client *client)
{
	struct ibv_wc wc;

	while (client->left[0]) {
		if (conn_wait(&client->conn, &wc))
			return -1;
		if (wc.status != IBV_WC_SUCCESS)
			return explain_completion("message", &wc);
		client->left[0]--;
	}
	return 0;
}

static int ask(struct client *client, enum ask_type type, bool writes,
	       struct used *used)
{
	struct slot *slot = &client->slots[0];

	if (receive(client, 0))
		return -1;
	slot->ask = (struct ask){ .type = type, .writes = writes };
	client->left[0]++;
	if (bench_send(&client->conn, &client->memory, &slot->ask,
		       sizeof(slot->ask), 0) ||
	    await(client))
		return -1;
	memcpy(used, &slot->copy, sizeof(*used));
	return 0;
}

static int join(struct client *client, const struct plan *plan,
		const struct addrinfo *addresses,
		const struct patience *patience)
{
	struct conn *conn = &client->conn;
	int access = IBV_ACCESS_LOCAL_WRITE;

	conn->patience = *patience;
	if (conn_resolve(conn, addresses) ||
	    conn_create_qp(conn, plan->depth, plan->depth))
		return -1;
	/* What a READ brings comes as a write by the peer there. */
	if (iwarp_is(conn->pd->context))
		access |= IBV_ACCESS_REMOTE_WRITE;
	if (region_open(&client->memory, conn,
			plan->depth * sizeof(struct slot), access))
		return -1;
	client->slots = client->memory.buf;
	while (client->readies < plan->depth) {
		client->ready[client->readies] = client->readies;
		client->readies++;
	}
	if (receive(client, 0) || conn_connect(conn) || await(client))
		return -1;
	memcpy(&client->place, &client->slots[0].copy, sizeof(client->place));
	return 0;
}

static void print(const struct bench *bench, int64_t us,
		  const struct used *used)
{
	static const char *const ways[] = { "read", "send", "add" };
	const struct plan *plan = bench->plan;
	double count = bench->count;

	log_line("%-4s %7s %5s %5s %8s %8s %8s %10s %10s %10s %10s", "way",
		 "clients", "depth", "chain", "count", "per s", "us each",
		 "program us", "node us", "torn/10^6", "puts");
	log_line(
		"%-4s %7d %5d %5d %8d %8.0f %8.2f %10.2f %10.2f %10.1f %10" PRIu64,
		ways[plan->way], plan->clients, plan->depth, plan->chain,
		bench->count, count * 1e6 / us, us / count,
		used->program_us / count, used->node_us / count,
		bench->torn * 1e6 / count, used->puts);
}

/* The counter is what all clients together have added. */
static int check_counter(struct bench *bench, uint64_t expected)
{
	const struct client *client = &bench->clients[0];
	uint64_t counter;

	if (run(bench, 1))
		return -1;
	/* The slot that was used is the one that has become free last. */
	memcpy(&counter,
	       &client->slots[client->ready[client->readies - 1]].copy,
	       sizeof(counter));
	if (counter != expected)
		return log_fail("the counter is %" PRIu64 " and not %" PRIu64,
				counter, expected);
	return 0;
}

static int measure_all(struct bench *bench)
{
	const struct plan *plan = bench->plan;
	struct used used;
	int64_t begin, us;

	if (run(bench, WARM_UP) ||
	    ask(&bench->clients[0], ASK_BEGIN, plan->writes, &used))
		return -1;
	begin = bench_now();
	if (run(bench, plan->count))
		return -1;
	us = bench_now() - begin;
	if (ask(&bench->clients[0], ASK_END, false, &used))
		return -1;
	print(bench, us, &used);
	if (plan->way == PLAN_ADD)
		return check_counter(bench, WARM_UP + plan->count);
	return 0;
}

int measure(const struct plan *plan, const struct addrinfo *addresses,
	    const struct patience *patience)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	int ret = 0;

	if (!bench)
		return explain_call("calloc", errno);
	bench->plan = plan;
	bench_keys(bench->keys);
	for (int i = 0; i < BENCH_KEYS; i++)
		bench->homes[i] = table_home(bench->keys[i], BENCH_BUCKETS);
	for (int c = 0; !ret && c < plan->clients; c++)
		ret = join(&bench->clients[c], plan, addresses, patience);
	if (!ret)
		ret = measure_all(bench);
	for (int c = 0; c < plan->clients; c++) {
		struct client *client = &bench->clients[c];

		if (!client->conn.id)
			continue;
		if (!ret)
			ret = conn_disconnect(&client->conn);
		conn_end(&client->conn);
		region_close(&client->memory);
		conn_close(&client->conn);
	}
	free(bench);
	return ret;
}
