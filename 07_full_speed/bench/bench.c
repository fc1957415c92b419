/*
 * bench.c - how fast are writes, reads and sends: the command line and the connections
 */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addr.h"
#include "explain.h"
#include "log.h"
#include "options.h"

#define PAGE ((size_t)4096)

static struct {
	const char *address, *port, *without;
	int seconds, depth, bytes, count;
	bool csv, once;
	int measures; /* the index of a word in lend|measure */
} options = { .port = "22227",
	      .seconds = 10,
	      .depth = 64,
	      .bytes = 4096,
	      .count = 1000 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS",
	  "lend: listen on this name or address only; measure: the other end's",
	  .text = &options.address, .otherwise = "all of this machine's" },
	{ 'p', "port", "PORT", "the port of the end that lends",
	  .digits = &options.port, .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'q', "depth", "DEPTH", "operations at a time",
	  .number = &options.depth, .min = 1, .max = BENCH_DEPTH_MAX },
	{ 'b', "bytes", "BYTES", "size of an operation",
	  .number = &options.bytes, .min = 1, .max = MEMORY_MAX },
	{ 'n', "count", "COUNT",
	  "COUNT writes, then reads, then sends; below 1000, p99.9 is the maximum",
	  .number = &options.count, .min = 1, .max = 10000000 },
	{ 'c', "csv", .help = "print comma-separated values",
	  .flag = &options.csv },
	{ 'W', "without", "LIST",
	  "do without some of selective, chains, batches, inline (separated by commas)",
	  .text = &options.without },
	{ '1', "once", .help = "lend to one client, then exit",
	  .flag = &options.once },
	{ .value = "lend|measure", .word = &options.measures },
};

static const char purpose[] =
	"usage: bench/bench [-a ADDRESS] [OPTION]... lend|measure\n\n"
	"Measures how fast writes, reads and sends are: one end lends memory, to anybody\n"
	"and 64 MiB at most, and the other one measures.\n\n"
	"example: bench/bench -1 lend, and bench/bench -a 192.0.2.1 -n 200 measure";

/* Reads -W into WITHOUT_…. */
static int parse_without(unsigned int *without)
{
	static char *const names[] = { "selective", "chains", "batches",
				       "inline", NULL };
	/* getsubopt(3) cuts up its text, so give it a copy of what is in argv. */
	char *copy = strdup(options.without ?: ""), *rest = copy, *value;
	bool known = copy && (*copy || !options.without);
	int i;

	while (known && *rest) {
		i = getsubopt(&rest, names, &value);
		known = i >= 0 && !value;
		if (known)
			*without |= 1U << i;
	}
	free(copy);
	if (known)
		return 0;
	return log_fail(
		"-W %s: give some of selective, chains, batches, inline, separated by commas",
		options.without);
}

/* ---- What both ends share ---- */

int bench_memory(struct bench *bench, size_t size, int access)
{
	struct region *memory = &bench->memory;

	/* Page-aligned: otherwise, each operation costs a step more. */
	memory->buf = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
	if (!memory->buf)
		return explain_call("aligned_alloc", errno);
	memset(memory->buf, 0, size);
	memory->size = size;
	memory->mr = ibv_reg_mr(bench->conn->pd, memory->buf, size, access);
	return memory->mr ? 0 : explain_memory(size, errno);
}

char bench_pattern(size_t i)
{
	return i ^ (i >> 8) * 31 ^ (i >> 16) * 17;
}

int bench_verify(const struct bench *bench, size_t size, const char *what)
{
	const char *bytes = bench->memory.buf;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] != bench_pattern(i))
			return log_fail(
				"benchmark: byte %zu of the memory that was %s is wrong: the figures mean nothing [docs/troubleshooting.md#wrong-bytes]",
				i, what);
	log_line("benchmark: %zu bytes verified.", size);
	return 0;
}

size_t bench_beat(size_t length)
{
	return (length + 7) / 8 * 8;
}

/* ---- A connection ---- */

/* Signs of life have room as well: see pump.h. */
static int create_qp(struct conn *conn)
{
	uint8_t timeout = 18;

	if (conn_create_qp(conn, 2 * options.depth + SLOT_RECV,
			   options.depth + TALK_RECEIVES))
		return -1;
	/* As in hello.c. */
	if (rdma_set_option(conn->id, RDMA_OPTION_ID,
			    RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			    sizeof(timeout)))
		return explain_call("rdma_set_option", errno);
	return 0;
}

/* With inline data if the device has it: that helps, but we do not need it. */
static int add_inline(struct bench *bench)
{
	struct conn *conn = bench->conn;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err = ibv_query_qp(conn->id->qp, &attr, IBV_QP_CAP, &init);

	if (err)
		return explain_call("ibv_query_qp", err);
	rdma_destroy_qp(conn->id);
	conn->qp = NULL;
	init.cap.max_inline_data = BENCH_INLINE;
	if (rdma_create_qp(conn->id, conn->pd, &init)) {
		init.cap.max_inline_data = 0;
		if (rdma_create_qp(conn->id, conn->pd, &init))
			return explain_call("rdma_create_qp", errno);
	}
	conn->qp = conn->id->qp;
	/* The library has written there what it really gives. */
	bench->max_inline = init.cap.max_inline_data;
	return 0;
}

/*
 * Requests that are not signalled, whose wr_id is 0, have a completion only if they fail.
 * So conn_end(), which counts completions, must not meet any of them.
 */
static void drain(struct conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int64_t deadline = wait_deadline(conn->patience.timeout_ms);
	struct ibv_wc wc;
	int n = 0, err = 0;

	if (conn->pending)
		err = ibv_modify_qp(conn->id->qp, &attr, IBV_QP_STATE);
	if (err)
		explain_call("ibv_modify_qp", err);
	while (conn->pending && !err && n >= 0 && wait_deadline(0) < deadline) {
		n = ibv_poll_cq(conn->cq, 1, &wc);
		conn->pending -= n > 0 && wc.wr_id;
	}
	if (conn->pending)
		wait_fail("the flush of all posted requests", ETIMEDOUT,
			  &conn->patience);
	conn->pending = 0;
}

static void end(struct bench *bench)
{
	struct conn *conn = bench->conn;

	log_line("[LOG] closing connection conn=%p, id=%p", (void *)conn,
		 (void *)conn->id);
	drain(conn);
	conn_end(conn);
	region_close(&bench->memory);
	talk_close(bench->talk);
	conn_close(conn);
}

/* Returns 0, or -1 after reporting why. */
static int run_client(const struct addrinfo *addresses,
		      const struct patience *patience, unsigned int without)
{
	struct conn conn = { .patience = *patience };
	struct talk talk = { .conn = &conn };
	struct bench bench = {
		.conn = &conn,
		.talk = &talk,
		.depth = options.depth,
		.bytes = options.bytes,
		.count = options.count,
		.without = without,
		.csv = options.csv,
	};
	int ret = -1;

	if (!conn_resolve(&conn, addresses) && !create_qp(&conn) &&
	    !add_inline(&bench) && !talk_open(&talk) && !conn_connect(&conn) &&
	    !measure(&bench))
		ret = conn_disconnect(&conn);
	end(&bench);
	return ret;
}

static int serve_client(struct rdma_cm_id *id, const struct patience *patience)
{
	struct conn conn = { .patience = *patience };
	struct talk talk = { .conn = &conn };
	struct bench bench = {
		.conn = &conn,
		.talk = &talk,
		.depth = options.depth,
	};
	char address[ADDR_TEXT_SIZE];
	int ret = -1;

	if (conn_take(&conn, id))
		goto out;
	log_line("the client is at %s.",
		 addr_text(rdma_get_peer_addr(conn.id), address));
	if (!create_qp(&conn) && !talk_open(&talk) && !conn_accept(&conn) &&
	    !lend(&bench))
		ret = conn_wait_disconnect(&conn);
out:
	end(&bench);
	return ret;
}

/* Serves one client after another until told to stop. */
static int serve(const struct addrinfo *addresses,
		 const struct patience *patience)
{
	struct conn listener = { .patience = *patience };
	struct rdma_cm_id *id;
	int ret = conn_listen(&listener, addresses);

	while (ret == 0) {
		ret = conn_next(&listener, &id);
		if (ret <= 0)
			break;
		/* The failure is reported. The next client may succeed. */
		ret = serve_client(id, patience);
		if (options.once)
			break;
		ret = 0;
	}
	conn_close(&listener);
	return ret;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct addrinfo *addresses;
	unsigned int without = 0;
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (options.measures && !options.address) {
		log_fail(
			"the address of the end that lends is missing; give it with -a, as in: bench/bench -a 192.0.2.1 measure");
		return EXIT_USAGE;
	}
	if (parse_without(&without))
		return EXIT_USAGE;
	patience.timeout_ms = options.seconds * 1000;
	/* From now on, SIGINT and SIGTERM end the program cleanly. */
	if (!wait_for_signals(&patience.stop_fd) &&
	    !addr_lookup(options.address, options.port, &addresses)) {
		ret = options.measures ?
			      run_client(addresses, &patience, without) :
			      serve(addresses, &patience);
		freeaddrinfo(addresses);
	}
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
