/*
 * first.c - read a table in the server's memory: both ends in one file
 *
 * ./first is the server, for one client. ./first 192.0.2.1 is a client of that.
 * ./first write is a server that changes its table while the client reads it.
 * Each function returns true, or false after saying what went wrong.
 *
 * The client reads a bucket, which has a key and its value. Nobody tells it
 * whether the server was writing there at that moment: the bucket must say so.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <rdma/rdma_verbs.h>

#define PORT 22229
#define BUCKETS 16 /* in the table */
#define KEYS 8 /* of them are full */
#define GETS 1000 /* values that the client reads */
#define PAUSE_MS 1 /* of a server that writes, in the middle of each value */
#define TIMEOUT_MS 10000 /* how long the peer may take for one step */
#define STAY_MS 60000 /* how long the client may read */

/* Whether the condition is true. If not, prints it, and errno's text (%m). */
#define CHECK(condition) \
	((condition) || (fprintf(stderr, "error: %s: %m\n", #condition), false))

/* What the table is made of. All numbers that the peer sees are big-endian. */
struct bucket {
	uint64_t version; /* odd while the server writes to this bucket */
	char key[24]; /* "" if there is none */
	char value[3968]; /* one letter, again and again */
	uint64_t checksum; /* of all before it */
};

/* Where the lent memory is. On the wire: these 16 bytes, big-endian. */
struct place {
	uint64_t addr;
	uint32_t rkey; /* the number that its region has for the peer */
	uint32_t length;
};

/* One end of the connection. A pointer is NULL until its object exists. */
struct conn {
	struct rdma_event_channel *events; /* readable when the CM has news */
	struct rdma_cm_id *id; /* has the queue pair, and what that needs */
	struct ibv_mr *mr; /* lets the device use place and copy */
	struct ibv_mr *lent_mr; /* server: lets the client read table */
	struct ibv_wc wc; /* the last completion */
	bool writes; /* server: changes its table all the time */
	int torn; /* client: reads that have met the server writing */
	struct place place; /* the message: where the table is */
	struct bucket copy; /* client: the bucket that was read last */
	struct bucket table[BUCKETS]; /* server: what the client may read */
};

/* Sleeps until fd can be read: there is news. Nothing else here sleeps. */
static bool readable(int fd, int timeout_ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	errno = ETIMEDOUT; /* stays, unless poll() itself fails */
	return poll(&pollfd, 1, timeout_ms) > 0;
}

/* Waits for the CM's next event, which must be the one that we want. */
static bool wait_event(struct conn *conn, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event;
	bool ok;

	if (!CHECK(readable(conn->events->fd, TIMEOUT_MS)) ||
	    !CHECK(!rdma_get_cm_event(conn->events, &event)))
		return false;
	printf("%s, status %d\n", rdma_event_str(event->event), event->status);
	conn->id = event->id; /* a CONNECT_REQUEST brings a new one */
	errno = EPROTO;
	ok = CHECK(event->event == want);
	/* This frees the event. Without it, rdma_destroy_id() hangs. */
	return CHECK(!rdma_ack_cm_event(event)) && ok;
}

static bool prepare(struct conn *conn)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, /* reliable, connected to one other */
		.cap.max_send_wr = 1, /* sends at a time */
		.cap.max_recv_wr = 1, /* receives at a time */
		.cap.max_send_sge = 1, /* pieces of memory in each */
		.cap.max_recv_sge = 1,
		.sq_sig_all = 1, /* each send has a completion */
	};
	size_t size = sizeof(conn->place) + sizeof(conn->copy);

	return CHECK(!rdma_create_qp(conn->id, NULL, &attr)) &&
	       CHECK(conn->mr = ibv_reg_mr(conn->id->pd, &conn->place, size,
					   IBV_ACCESS_LOCAL_WRITE));
}

/* Waits until a request is done: one that reports to this completion queue. */
static bool wait_done(struct ibv_cq *cq, struct ibv_wc *wc)
{
	void *context;
	int n = 0;

	/* Ask for an event, then look, and only then sleep. */
	while (CHECK(!(errno = ibv_req_notify_cq(cq, 0))) &&
	       CHECK((n = ibv_poll_cq(cq, 1, wc)) >= 0) && n == 0 &&
	       CHECK(readable(cq->channel->fd, TIMEOUT_MS)) &&
	       CHECK(!ibv_get_cq_event(cq->channel, &cq, &context)))
		ibv_ack_cq_events(cq, 1);
	if (n < 1)
		return false;
	if (wc->status != IBV_WC_SUCCESS)
		printf("wc->status = %d (%s)\n", wc->status,
		       ibv_wc_status_str(wc->status));
	errno = EIO;
	return CHECK(wc->status == IBV_WC_SUCCESS);
}

/* FNV-1a: a short one, against accidents and not against an enemy. */
static uint64_t hash(const void *data, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (const unsigned char *c = data; len--; c++)
		hash = (hash ^ *c) * 0x100000001b3;
	return hash;
}

static uint64_t checksum(const struct bucket *bucket)
{
	return htobe64(hash(bucket, offsetof(struct bucket, checksum)));
}

static void set_version(struct bucket *bucket, uint64_t version)
{
	/* Its place among the writes to memory is its place in the program. */
	atomic_thread_fence(memory_order_seq_cst);
	*(volatile uint64_t *)&bucket->version = htobe64(version);
	atomic_thread_fence(memory_order_seq_cst);
}

/*
 * Puts a value. The client may read the bucket at any moment of this. A program
 * can be interrupted anywhere; here, pause_ms does so in the middle.
 */
static bool put(struct bucket *bucket, char letter, int pause_ms)
{
	uint64_t version = be64toh(bucket->version);
	size_t half = sizeof(bucket->value) / 2;
	struct bucket after = *bucket;
	bool ok;

	after.version = htobe64(version + 2);
	memset(after.value, letter, sizeof(after.value));
	set_version(bucket, version + 1);
	memset(bucket->value, letter, half);
	ok = CHECK(poll(NULL, 0, pause_ms) == 0);
	memset(bucket->value + half, letter, half);
	bucket->checksum = checksum(&after);
	set_version(bucket, version + 2);
	return ok;
}

/* A key is where its hash says, or in the first free bucket after that. */
static bool fill_table(struct bucket *table)
{
	bool ok = true;
	char key[24];

	for (int i = 0; i < BUCKETS; i++)
		table[i].checksum = checksum(&table[i]);
	for (int i = 0; i < KEYS; i++) {
		int at = hash(key, snprintf(key, sizeof(key), "key %d", i)) %
			 BUCKETS;

		while (table[at].key[0])
			at = (at + 1) % BUCKETS;
		strcpy(table[at].key, key);
		ok &= put(&table[at], 'a', 0);
	}
	return ok;
}

/* Lends the table, to be read and no more, and says where it is. */
static bool send_place(struct conn *conn)
{
	struct place *place = &conn->place;

	if (!CHECK(conn->lent_mr = ibv_reg_mr(conn->id->pd, conn->table,
					      sizeof(conn->table),
					      IBV_ACCESS_REMOTE_READ)))
		return false;
	place->addr = htobe64((uintptr_t)conn->table);
	place->rkey = htobe32(conn->lent_mr->rkey);
	place->length = htobe32(sizeof(conn->table));
	return CHECK(!rdma_post_send(conn->id, NULL, place, sizeof(*place),
				     conn->mr, 0)) &&
	       wait_done(conn->id->send_cq, &conn->wc);
}

/* Until the client leaves. Nothing here can know what it reads, or when. */
static bool serve(struct conn *conn)
{
	time_t end = time(NULL) + STAY_MS / 1000;

	for (int i = 0;
	     !readable(conn->events->fd, conn->writes ? 0 : STAY_MS) &&
	     time(NULL) < end;
	     i++)
		if (conn->table[i % BUCKETS].key[0] &&
		    !put(&conn->table[i % BUCKETS], 'a' + i / BUCKETS % 26,
			 PAUSE_MS))
			return false;
	return wait_event(conn, RDMA_CM_EVENT_DISCONNECTED);
}

static bool receive_place(struct conn *conn)
{
	struct place *place = &conn->place;

	if (!wait_done(conn->id->recv_cq, &conn->wc))
		return false;
	errno = EPROTO;
	if (!CHECK(conn->wc.byte_len == sizeof(*place)))
		return false;
	place->addr = be64toh(place->addr);
	place->rkey = be32toh(place->rkey);
	place->length = be32toh(place->length);
	return CHECK(place->length == sizeof(conn->table)) &&
	       printf("the server lends %u bytes: addr=0x%llx, rkey=0x%x\n",
		      place->length, (long long)place->addr, place->rkey);
}

/* Reads a bucket until the copy is of one moment. */
static bool read_bucket(struct conn *conn, uint64_t at)
{
	struct bucket *copy = &conn->copy;
	uint64_t from = conn->place.addr + at * sizeof(*copy);

	for (int tries = 0; tries < 1000; tries++, conn->torn++) {
		if (!CHECK(!rdma_post_read(conn->id, NULL, copy, sizeof(*copy),
					   conn->mr, 0, from,
					   conn->place.rkey)) ||
		    !wait_done(conn->id->send_cq, &conn->wc))
			return false;
		if (be64toh(copy->version) % 2 == 0 &&
		    copy->checksum == checksum(copy))
			return true;
	}
	errno = EAGAIN;
	return CHECK(!"a bucket of one moment");
}

/* Puts the key's bucket into copy. */
static bool get(struct conn *conn, const char *key)
{
	uint64_t at = hash(key, strlen(key));

	for (int i = 0; i < BUCKETS; i++) {
		if (!read_bucket(conn, (at + i) % BUCKETS))
			return false;
		if (!strncmp(conn->copy.key, key, sizeof(conn->copy.key)))
			return true;
		if (!conn->copy.key[0])
			break;
	}
	errno = ENOENT;
	return CHECK(!"the key");
}

/* A value of two letters was never in the table: it is mixed of two that were. */
static bool get_values(struct conn *conn)
{
	char key[24], *value = conn->copy.value;
	int mixed = 0;

	for (int i = 0; i < GETS; i++) {
		snprintf(key, sizeof(key), "key %d", i % KEYS);
		if (!get(conn, key))
			return false;
		mixed += memcmp(value, value + 1,
				sizeof(conn->copy.value) - 1) != 0;
	}
	return printf("%d values, %d of them mixed; torn reads: %d\n", GETS,
		      mixed, conn->torn);
}

static bool run_client(struct conn *conn, struct sockaddr *server)
{
	struct rdma_conn_param param = {
		.retry_count = 6, /* of a lost packet. To rxe, 7 is for ever */
		.initiator_depth = 1, /* our reads at a time */
	};

	return CHECK(!rdma_resolve_addr(conn->id, NULL, server, 2000)) &&
	       wait_event(conn, RDMA_CM_EVENT_ADDR_RESOLVED) &&
	       CHECK(!rdma_resolve_route(conn->id, 2000)) &&
	       wait_event(conn, RDMA_CM_EVENT_ROUTE_RESOLVED) &&
	       prepare(conn) &&
	       CHECK(!rdma_post_recv(conn->id, NULL, &conn->place,
				     sizeof(conn->place), conn->mr)) &&
	       CHECK(!rdma_connect(conn->id, &param)) &&
	       wait_event(conn, RDMA_CM_EVENT_ESTABLISHED) &&
	       receive_place(conn) && get_values(conn) &&
	       CHECK(!rdma_disconnect(conn->id)) &&
	       wait_event(conn, RDMA_CM_EVENT_DISCONNECTED);
}

static bool run_server(struct conn *conn, struct sockaddr *any)
{
	struct rdma_conn_param param = {
		.rnr_retry_count = 0, /* of a message without a receive */
		.responder_resources = 1, /* the client's reads at a time */
	};
	struct rdma_cm_id *listener = conn->id;

	return CHECK(!rdma_bind_addr(listener, any)) &&
	       CHECK(!rdma_listen(listener, 1)) &&
	       printf("listening on port %d.\n", PORT) &&
	       CHECK(readable(conn->events->fd, -1)) && /* however long */
	       wait_event(conn, RDMA_CM_EVENT_CONNECT_REQUEST) && /* new id */
	       CHECK(!rdma_destroy_id(listener)) && /* refuses all others */
	       prepare(conn) && CHECK(!rdma_accept(conn->id, &param)) &&
	       wait_event(conn, RDMA_CM_EVENT_ESTABLISHED) &&
	       send_place(conn) && serve(conn) &&
	       CHECK(!rdma_disconnect(conn->id)); /* answers the client's */
}

int main(int argc, char **argv)
{
	struct sockaddr_in ip = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	struct sockaddr *address = (struct sockaddr *)&ip;
	bool writes = argc == 2 && !strcmp(argv[1], "write");
	char *server = writes ? NULL : argv[1];
	static struct conn conn; /* too large for the stack */
	bool ok;

	if (argc > 2 || (server && !inet_pton(AF_INET, server, &ip.sin_addr))) {
		fprintf(stderr, "usage: %s [ADDRESS of the server | write]\n",
			argv[0]);
		return 2;
	}
	setlinebuf(stdout);
	conn.writes = writes;
	ok = fill_table(conn.table) &&
	     CHECK(conn.events = rdma_create_event_channel()) &&
	     CHECK(!fcntl(conn.events->fd, F_SETFL, O_NONBLOCK)) &&
	     CHECK(!rdma_create_id(conn.events, &conn.id, NULL, RDMA_PS_TCP)) &&
	     (server ? run_client(&conn, address) : run_server(&conn, address));
	/* In reverse order. Without a queue pair, the device uses no memory. */
	if (conn.id && conn.id->qp)
		rdma_destroy_qp(conn.id);
	ok &= CHECK(!conn.lent_mr || !rdma_dereg_mr(conn.lent_mr));
	ok &= CHECK(!conn.mr || !rdma_dereg_mr(conn.mr));
	ok &= CHECK(!conn.id || !rdma_destroy_id(conn.id));
	if (conn.events)
		rdma_destroy_event_channel(conn.events);
	return ok ? 0 : 1;
}
