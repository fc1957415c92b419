/*
 * server.c - lends a table that clients read by themselves, and counters
 *
 * What is said is drawn in talk.h. Each client has a thread, which sleeps while
 * its client reads. Only PUTs need the processor.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addr.h"
#include "explain.h"
#include "log.h"
#include "options.h"
#include "talk.h"

#define GUESTS 64 /* clients at a time */

/* A client, and its thread. */
struct guest {
	struct server *server;
	struct rdma_cm_id *id; /* its request, until conn has it */
	unsigned int number; /* it is the first, the second... */
	pthread_t thread;
	bool runs; /* the thread has to be joined */
	atomic_bool ended; /* it waits for that; set by the thread */
};

struct server {
	struct conn listener;
	pthread_mutex_t lock; /* of what is in the table, and which it is */
	struct table *table; /* its users are the loans, and this */
	uint64_t *counters; /* COUNTERS; only devices change them */
	atomic_bool stuck; /* a device may still use the counters */
	struct guest guests[GUESTS];
};

/* What a client can reach. */
struct loan {
	struct table *of;
	struct ibv_mr *table, *counters;
};

static struct {
	const char *address; /* NULL: all of this machine's, IPv4 as well */
	const char *port;
	int seconds, end_after;
	bool once, one_sided;
} options = { .port = "22229", .seconds = 10 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS", "listen on this name or address only",
	  .text = &options.address, .otherwise = "all of this machine's" },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS",
	  "how long a client may take for one step, and send no message",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'e', "end-after", "COUNT",
	  "serve COUNT clients, then end when the last has left",
	  .number = &options.end_after, .min = 1, .max = 1000000,
	  .otherwise = "do not end" },
	{ '1', "once", .help = "the same as -e 1", .flag = &options.once },
	{ 'W', "one-sided",
	  .help = "let clients write to the table by RDMA, and nobody else",
	  .flag = &options.one_sided },
	{ 0 },
};

static const char purpose[] =
	"usage: ./server [OPTION]...\n\n"
	"Lends a table of keys and values, which clients read by RDMA, and counters,\n"
	"which they change by atomic operations; and writes to the table what they\n"
	"send, or lets them write there. Ends on SIGINT (Ctrl-C) or SIGTERM.\n\n"
	"example: ./server -a 192.0.2.1";

/* ---- What is lent ---- */

/* The table may be read, and with --one-sided locked and written. */
static int lend_table(struct loan *loan, struct conn *conn,
		      struct server *server)
{
	int access = IBV_ACCESS_REMOTE_READ;
	size_t size;

	if (options.one_sided)
		access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
			  IBV_ACCESS_LOCAL_WRITE;
	pthread_mutex_lock(&server->lock);
	loan->of = server->table;
	loan->of->users++;
	pthread_mutex_unlock(&server->lock);
	size = loan->of->count * sizeof(*loan->of->buckets);
	loan->table = ibv_reg_mr(conn->pd, loan->of->buckets, size, access);
	return loan->table ? 0 : explain_memory(size, errno);
}

/* Both are the client's until it asks for another table, or leaves. */
static int lend(struct loan *loan, struct conn *conn, struct server *server)
{
	struct ibv_device_attr device;
	size_t size = COUNTERS * sizeof(*server->counters);
	int err = ibv_query_device(conn->id->verbs, &device);

	if (err)
		return explain_call("ibv_query_device", err);
	if (options.one_sided && device.atomic_cap == IBV_ATOMIC_NONE)
		return log_fail(
			"--one-sided: this device has no atomic operations");
	if (lend_table(loan, conn, server))
		return -1;
	/* IBV_ATOMIC_HCA is enough: our processor changes no counter. */
	if (device.atomic_cap == IBV_ATOMIC_NONE)
		return 0;
	/* For atomic operations only. */
	loan->counters =
		ibv_reg_mr(conn->pd, server->counters, size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	return loan->counters ? 0 : explain_memory(size, errno);
}

/* Under the lock: the last one who uses a table frees it. */
static void leave_table(struct table *table)
{
	if (!--table->users)
		free(table);
}

/* From here on, the device takes the client's rkey for an unknown one. */
static void take_table_back(struct loan *loan, struct server *server)
{
	int err = loan->table ? ibv_dereg_mr(loan->table) : 0;

	/* On failure the device may still use the memory: better to lose it. */
	if (err)
		explain_call("ibv_dereg_mr", err);
	pthread_mutex_lock(&server->lock);
	if (loan->of && !err)
		leave_table(loan->of);
	pthread_mutex_unlock(&server->lock);
	loan->table = NULL;
	loan->of = NULL;
}

static void take_back(struct loan *loan, struct server *server)
{
	int err = loan->counters ? ibv_dereg_mr(loan->counters) : 0;

	if (err) {
		explain_call("ibv_dereg_mr", err);
		atomic_store(&server->stuck, true);
	}
	take_table_back(loan, server);
}

static int send_place(struct talk *talk, const struct loan *loan,
		      unsigned int number)
{
	struct msg msg = {
		.table = htobe64((uintptr_t)loan->table->addr),
		.table_rkey = htobe32(loan->table->rkey),
		.length = htobe32(loan->of->count),
		/* Whoever writes puts it into the lock. */
		.client = htobe32(options.one_sided ? number : 0),
	};

	if (loan->counters) {
		msg.counters = htobe64((uintptr_t)loan->counters->addr);
		msg.counters_rkey = htobe32(loan->counters->rkey);
	}
	return talk_send(talk, MSG_PLACE, msg);
}

/* ---- Another table ---- */

/*
 * Under the lock: makes a table of twice the size with all that is in this one. Nobody
 * writes to the old one any more, and it says so before there is something new.
 */
static int move_table(struct server *server)
{
	struct table *old = server->table, *new = table_make(2 * old->count);

	if (!new)
		return explain_call("calloc", errno);
	table_copy(new, old);
	/* Where clients write, they have done this. */
	if (!options.one_sided)
		table_leave(old);
	server->table = new;
	leave_table(old);
	log_line("the table has moved: %" PRIu32 " buckets", new->count);
	return 0;
}

/* The client has no use for what it was lent, and reads nothing meanwhile. */
static int lend_anew(struct talk *talk, struct guest *guest, struct loan *loan)
{
	struct server *server = guest->server;
	int ret = 0;

	pthread_mutex_lock(&server->lock);
	/* The first one who asks; and nobody can be writing there. */
	if (options.one_sided && loan->of == server->table)
		ret = table_is_left(server->table) &&
				      server->table->count < BUCKETS_MAX ?
			      move_table(server) :
			      log_fail(
				      "the client has not locked the table, or it may not grow");
	pthread_mutex_unlock(&server->lock);
	if (ret)
		return -1;
	take_table_back(loan, server);
	if (lend_table(loan, talk->conn, server))
		return -1;
	return send_place(talk, loan, guest->number);
}

/* ---- A conversation ---- */

/*
 * Whoever gets the answer finds the value in the table, until the next PUT. Where
 * clients write, we do not: their lock is none for our processor.
 */
static int put(struct talk *talk, struct server *server, const struct msg *msg)
{
	struct msg answer = { .status = 2 };
	uint64_t version;

	if (options.one_sided)
		return talk_send(talk, MSG_ANSWER, answer);
	pthread_mutex_lock(&server->lock);
	do
		version = table_put(server->table, msg->key, msg->value,
				    be32toh(msg->length));
	while (!version && server->table->count < BUCKETS_MAX &&
	       !move_table(server));
	pthread_mutex_unlock(&server->lock);
	log_line("put: %s", version ? "done" : "the table is full");
	answer.version = htobe64(version);
	answer.status = version ? 0 : 1;
	return talk_send(talk, MSG_ANSWER, answer);
}

/* Sleeps while the client reads, and puts what it sends, until it leaves. */
static int converse(struct talk *talk, struct guest *guest, struct loan *loan)
{
	struct msg msg;
	int ret = send_place(talk, loan, guest->number);

	while (!ret && !(ret = talk_receive(talk, MSG_PUT, &msg)))
		ret = msg.type == MSG_MOVE ? lend_anew(talk, guest, loan) :
					     put(talk, guest->server, &msg);
	return ret == TALK_LEFT ? 0 : -1;
}

/* The whole life of one connection. Returns 0, or -1 after reporting why. */
static int serve_client(struct guest *guest)
{
	struct server *server = guest->server;
	struct conn conn = { .patience = server->listener.patience };
	struct talk talk = { .conn = &conn, .may_leave = true };
	struct loan loan = { 0 };
	int ret = -1;

	/* 1. Take the request that the client has sent. */
	if (conn_take(&conn, guest->id))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, TALK_SENDS, TALK_RECEIVES))
		goto out;
	/* 3. Post the receive, before the client can possibly send. */
	if (talk_open(&talk))
		goto out;
	/* 4. Let the client read the table, and change the counters. */
	if (lend(&loan, &conn, server))
		goto out;
	/* 5. Accept, and wait until the connection is established. */
	if (conn_accept(&conn))
		goto out;
	/* 6. Say where the table is, and put what the client sends. */
	log_prefix("Client %u: ", guest->number);
	ret = converse(&talk, guest, &loan);
	log_prefix("%s", "");
	if (ret)
		goto out;
	/* 7. The client has left, or is leaving. */
	ret = conn_wait_disconnect(&conn);
out:
	conn_end(&conn);
	take_back(&loan, server);
	talk_close(&talk);
	conn_close(&conn);
	return ret;
}

static void *run_guest(void *arg)
{
	struct guest *guest = arg;

	serve_client(guest); /* a failure is reported, and this client's */
	atomic_store(&guest->ended, true);
	return NULL;
}

static void join(struct guest *guest)
{
	pthread_join(guest->thread, NULL);
	guest->runs = false;
}

/* A place for one more client; or NULL. */
static struct guest *free_guest(struct server *server)
{
	for (struct guest *g = server->guests; g < server->guests + GUESTS;
	     g++) {
		if (g->runs && atomic_load(&g->ended))
			join(g);
		if (!g->runs)
			return g;
	}
	return NULL;
}

/* Gives the client a thread. If there is none, it is refused, and no more. */
static void admit(struct server *server, struct rdma_cm_id *id,
		  unsigned int number)
{
	struct guest *guest = free_guest(server);
	int err;

	if (guest) {
		*guest = (struct guest){ server, id, number, 0, true, false };
		err = pthread_create(&guest->thread, NULL, run_guest, guest);
		if (!err)
			return;
		guest->runs = false;
		explain_call("pthread_create", err);
	} else {
		log_fail("a client is refused, since %d are here", GUESTS);
	}
	/* A client that has given up need not hear of it. */
	if (rdma_reject(id, NULL, 0) && errno != EINVAL)
		explain_call("rdma_reject", errno);
	if (rdma_destroy_id(id))
		explain_call("rdma_destroy_id", errno);
}

/* Serves clients until told to stop, or until there were enough of them. */
static int serve(struct server *server)
{
	unsigned int count = 0, most = options.once ? 1 : options.end_after;
	struct rdma_cm_id *id;
	int ret = 1;

	while (ret > 0 && (!most || count < most)) {
		ret = conn_next(&server->listener, &id);
		if (ret > 0)
			admit(server, id, ++count);
	}
	/* All of them wait for the stop descriptor, too. */
	for (int i = 0; i < GUESTS; i++)
		if (server->guests[i].runs)
			join(&server->guests[i]);
	return ret < 0 ? -1 : 0;
}

static int start_listening(struct conn *listener)
{
	struct addrinfo *addresses;
	int ret;

	if (addr_lookup(options.address, options.port, &addresses))
		return -1;
	ret = conn_listen(listener, addresses);
	freeaddrinfo(addresses);
	return ret;
}

static int make_table(struct server *server)
{
	server->table = table_make(BUCKETS);
	server->counters = calloc(COUNTERS, sizeof(*server->counters));
	if (!server->table || !server->counters)
		return explain_call("calloc", errno);
	return 0;
}

int main(int argc, char **argv)
{
	struct server server = { .lock = PTHREAD_MUTEX_INITIALIZER };
	int ret = -1, stop_fd = -1;
	int status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&stop_fd))
		goto out;
	server.listener.patience =
		(struct patience){ options.seconds * 1000, stop_fd };
	/* 2. Make the table. */
	if (make_table(&server))
		goto out;
	/* 3. Listen. */
	if (start_listening(&server.listener))
		goto out;
	/* 4. Serve. */
	ret = serve(&server);
out:
	/* 5. Free everything. */
	conn_close(&server.listener);
	if (!atomic_load(&server.stuck))
		free(server.counters);
	if (server.table)
		leave_table(server.table);
	if (stop_fd >= 0)
		close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
