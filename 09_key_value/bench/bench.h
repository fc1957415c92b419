/*
 * bench.h - how fast GETs and counters are: one end lends a table and answers, the
 * other one measures
 *
 *     measures                           lends
 *                         <--            struct place
 *     ASK_BEGIN           -->            looks at its processor's time
 *                         <--            an answer
 *     READs, or atomic operations        (no program has a part in it)
 *     or ASK_GET          -->            looks into its table
 *                         <--            struct entry
 *     ASK_END             -->            looks at its processor's time again
 *                         <--            struct used
 *     (disconnect)
 *
 * Both ends are of this machine's byte order, and trust each other.
 */
#ifndef BENCH_H
#define BENCH_H

#include "rdma.h"
#include "table.h"

enum {
	BENCH_KEYS = 32,
	BENCH_BUCKETS = 64,
	BENCH_DEPTH = 64, /* requests under way on a connection, at most */
	BENCH_CLIENTS = 16, /* connections */
	BENCH_POLLS = 65536 /* that find nothing, before one sleeps */
};

enum ask_type {
	ASK_GET = 1, /* has a key */
	ASK_BEGIN = 2, /* has writes */
	ASK_END = 3
};

struct ask {
	uint32_t type;
	uint32_t writes; /* whether the table is to be written all the time */
	char key[KEY_SIZE];
};

struct place {
	uint64_t table, counter; /* addresses, which the rkeys open */
	uint32_t table_rkey, counter_rkey;
};

/* What it took from ASK_BEGIN to ASK_END. */
struct used {
	int64_t program_us; /* of processors, by the program that lends */
	int64_t node_us; /* by all of that machine, its kernel as well */
	uint64_t puts;
};

union answer {
	struct place place;
	struct entry entry;
	struct used used;
};

/* Keys whose home is theirs alone: a GET is one READ. */
void bench_keys(char keys[BENCH_KEYS][KEY_SIZE]);

/* Microseconds, of a clock that only goes forward. */
int64_t bench_now(void);

/*
 * Takes at least one and at most max completions; sleeps only if it has looked
 * for one so many times. Returns how many, or -1 after reporting why.
 */
int bench_take(struct conn *conn, struct ibv_wc *wcs, int max, int polls);

/* Posts a SEND, whose wr_id is id. */
int bench_send(struct conn *conn, const struct region *region, const void *buf,
	       uint32_t length, uint64_t id);

/* What is lent to everybody who connects. */
struct lender;

struct lender *lender_open(void);
void lender_close(struct lender *lender);

/* Serves one connection from its request to its end. */
int lender_serve(struct lender *lender, struct rdma_cm_id *id,
		 const struct patience *patience, bool polls);

/* What to measure. */
struct plan {
	enum {
		PLAN_READ,
		PLAN_SEND,
		PLAN_ADD
	} way;
	int clients, depth, chain, count;
	bool writes, believes;
};

int measure(const struct plan *plan, const struct addrinfo *addresses,
	    const struct patience *patience);

#endif
