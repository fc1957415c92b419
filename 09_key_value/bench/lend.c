/*
 * lend.c - the end that lends a table and a counter, and answers who asks
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "explain.h"
#include "log.h"

struct lender {
	struct table *table;
	uint64_t counter; /* only devices change it */
	pthread_mutex_t lock; /* of the table */
	pthread_t writer;
	bool writes; /* the writer has to be joined */
	atomic_bool enough; /* it is to end */
	uint64_t puts;
	char keys[BENCH_KEYS][KEY_SIZE];
};

/* A connection's messages. Each has a place of its own for what it is told. */
struct slots {
	struct ask asks[BENCH_DEPTH];
	union answer answers[BENCH_DEPTH];
};

/* One connection. */
struct guest {
	struct lender *lender;
	struct conn conn;
	struct region memory; /* struct slots */
	struct ibv_mr *table, *counter;
	bool sent[BENCH_DEPTH]; /* that answer is not yet acknowledged */
	unsigned int first, next; /* what came and is not yet answered */
	int todo[BENCH_DEPTH];
	struct used before; /* when ASK_BEGIN came */
	int64_t begin;
};

enum {
	SENT = 1 << 16 /* in a wr_id: it is an answer's */
};

struct lender *lender_open(void)
{
	struct lender *lender = calloc(1, sizeof(*lender));

	if (!lender) {
		explain_call("calloc", errno);
		return NULL;
	}
	pthread_mutex_init(&lender->lock, NULL);
	lender->table = table_make(BENCH_BUCKETS);
	if (!lender->table) {
		explain_call("calloc", errno);
		free(lender);
		return NULL;
	}
	bench_keys(lender->keys);
	for (int i = 0; i < BENCH_KEYS; i++)
		table_put(lender->table, lender->keys[i], "value", 5);
	return lender;
}

/* ---- Who writes all the time ---- */

static void *write_table(void *arg)
{
	struct lender *lender = arg;
	char value[VALUE_SIZE];

	while (!atomic_load(&lender->enough)) {
		memset(value, 'a' + lender->puts++ % 26, sizeof(value));
		pthread_mutex_lock(&lender->lock);
		table_put(lender->table, lender->keys[0], value, sizeof(value));
		pthread_mutex_unlock(&lender->lock);
	}
	return NULL;
}

static void stop_writing(struct lender *lender)
{
	atomic_store(&lender->enough, true);
	if (lender->writes)
		pthread_join(lender->writer, NULL);
	lender->writes = false;
}

static int start_writing(struct lender *lender)
{
	int err;

	stop_writing(lender);
	atomic_store(&lender->enough, false);
	lender->puts = 0;
	err = pthread_create(&lender->writer, NULL, write_table, lender);
	lender->writes = !err;
	return err ? explain_call("pthread_create", err) : 0;
}

void lender_close(struct lender *lender)
{
	if (!lender)
		return;
	stop_writing(lender);
	pthread_mutex_destroy(&lender->lock);
	free(lender->table);
	free(lender);
}

/* ---- The processor's time ---- */

/* So long this machine's processors had nothing to do. */
static int64_t idle_us(void)
{
	FILE *stat = fopen("/proc/stat", "re");
	int64_t idle = 0, wait = 0;

	/* user nice system idle iowait ..., in clock ticks */
	if (!stat || fscanf(stat, "cpu %*d %*d %*d %" SCNd64 " %" SCNd64, &idle,
			    &wait) != 2)
		log_line("/proc/stat does not say what is idle");
	if (stat)
		fclose(stat);
	return (idle + wait) * 1000000 / sysconf(_SC_CLK_TCK);
}

static struct used used_until_now(const struct guest *guest)
{
	int64_t all =
		(bench_now() - guest->begin) * sysconf(_SC_NPROCESSORS_ONLN);
	struct rusage own;

	/* Fails only for a bad address. */
	getrusage(RUSAGE_SELF, &own);
	return (struct used){
		.program_us = (own.ru_utime.tv_sec + own.ru_stime.tv_sec) *
				      INT64_C(1000000) +
			      own.ru_utime.tv_usec + own.ru_stime.tv_usec,
		.node_us = all - idle_us(),
		.puts = guest->lender->puts,
	};
}

static int begin(struct guest *guest, bool writes)
{
	guest->begin = bench_now();
	guest->before = used_until_now(guest);
	guest->before.puts = 0;
	return writes ? start_writing(guest->lender) : 0;
}

static struct used end(struct guest *guest)
{
	struct used used;

	stop_writing(guest->lender);
	used = used_until_now(guest);
	used.program_us -= guest->before.program_us;
	used.node_us -= guest->before.node_us;
	return used;
}

/* ---- A connection ---- */

static int receive(struct guest *guest, int i)
{
	struct slots *slots = guest->memory.buf;
	struct ibv_sge sge = {
		.addr = (uintptr_t)&slots->asks[i],
		.length = sizeof(slots->asks[i]),
		.lkey = guest->memory.mr->lkey,
	};
	struct ibv_recv_wr *bad,
		wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	int err = ibv_post_recv(guest->conn.id->qp, &wr, &bad);

	guest->conn.pending += !err;
	return err ? explain_call("ibv_post_recv", err) : 0;
}

static int answer(struct guest *guest, int i, uint32_t length)
{
	struct slots *slots = guest->memory.buf;

	guest->sent[i] = true;
	return bench_send(&guest->conn, &guest->memory, &slots->answers[i],
			  length, SENT | i);
}

/* The entry that counts; its checksum is for who has not asked us. */
static void find(struct lender *lender, const char *key, struct entry *entry)
{
	const struct bucket *bucket =
		&lender->table->buckets[table_home(key, BENCH_BUCKETS)];

	pthread_mutex_lock(&lender->lock);
	*entry = bucket->entries[be64toh(bucket->version) % 2];
	pthread_mutex_unlock(&lender->lock);
}

/* Answers what came, from a place that the device does not use any more. */
static int handle(struct guest *guest, int i)
{
	struct slots *slots = guest->memory.buf;
	union answer *out = &slots->answers[i];
	struct ask ask = slots->asks[i];
	uint32_t length = sizeof(out->used);

	/* The next message may come as soon as we have answered. */
	if (receive(guest, i))
		return -1;
	ask.key[KEY_SIZE - 1] = 0;
	switch (ask.type) {
	case ASK_GET:
		find(guest->lender, ask.key, &out->entry);
		length = sizeof(out->entry);
		break;
	case ASK_BEGIN:
		if (begin(guest, ask.writes))
			return -1;
		break;
	case ASK_END:
		out->used = end(guest);
		break;
	default:
		return log_fail("a message of type %" PRIu32
				"; is the peer another program",
				ask.type);
	}
	return answer(guest, i, length);
}

/* Until the client leaves. A place whose answer is under way has to wait. */
static int converse(struct guest *guest, bool polls)
{
	struct ibv_wc wcs[BENCH_DEPTH];
	int n, i;

	for (;;) {
		n = bench_take(&guest->conn, wcs, BENCH_DEPTH,
			       polls ? BENCH_POLLS : 1);
		for (i = 0; i < n; i++) {
			if (wcs[i].status == IBV_WC_WR_FLUSH_ERR &&
			    !guest->conn.established)
				return 0;
			if (wcs[i].status != IBV_WC_SUCCESS)
				return explain_completion("message", &wcs[i]);
			if (wcs[i].wr_id & SENT)
				guest->sent[wcs[i].wr_id & ~SENT] = false;
			else
				guest->todo[guest->next++ % BENCH_DEPTH] =
					wcs[i].wr_id;
		}
		if (n < 0)
			return -1;
		for (; guest->first != guest->next; guest->first++) {
			i = guest->todo[guest->first % BENCH_DEPTH];
			if (guest->sent[i])
				break;
			if (handle(guest, i))
				return -1;
		}
	}
}

static int lend(struct guest *guest)
{
	struct lender *lender = guest->lender;
	struct ibv_pd *pd = guest->conn.pd;
	struct slots *slots;
	size_t size;

	if (region_open(&guest->memory, &guest->conn, sizeof(*slots),
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	size = BENCH_BUCKETS * sizeof(struct bucket);
	guest->table = ibv_reg_mr(pd, lender->table->buckets, size,
				  IBV_ACCESS_REMOTE_READ);
	if (!guest->table)
		return explain_memory(size, errno);
	guest->counter =
		ibv_reg_mr(pd, &lender->counter, sizeof(lender->counter),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	if (!guest->counter)
		return explain_memory(sizeof(lender->counter), errno);
	slots = guest->memory.buf;
	slots->answers[0].place =
		(struct place){ (uintptr_t)lender->table->buckets,
				(uintptr_t)&lender->counter, guest->table->rkey,
				guest->counter->rkey };
	for (int i = 0; i < BENCH_DEPTH; i++)
		if (receive(guest, i))
			return -1;
	return 0;
}

int lender_serve(struct lender *lender, struct rdma_cm_id *id,
		 const struct patience *patience, bool polls)
{
	struct guest guest = { .lender = lender,
			       .conn = { .patience = *patience } };
	int ret = -1;

	if (!conn_take(&guest.conn, id) &&
	    !conn_create_qp(&guest.conn, BENCH_DEPTH, BENCH_DEPTH) &&
	    !lend(&guest) && !conn_accept(&guest.conn) &&
	    !answer(&guest, 0, sizeof(struct place)) &&
	    !converse(&guest, polls))
		ret = conn_wait_disconnect(&guest.conn);
	conn_end(&guest.conn);
	if (guest.table && ibv_dereg_mr(guest.table))
		explain_call("ibv_dereg_mr", errno);
	if (guest.counter && ibv_dereg_mr(guest.counter))
		explain_call("ibv_dereg_mr", errno);
	region_close(&guest.memory);
	conn_close(&guest.conn);
	return ret;
}
