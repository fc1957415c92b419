/*
 * client.c - asks the server for checksums
 *
 * The protocol is drawn in server.c. A client has nothing to share, so it waits as
 * in 02_write_read.
 */
#include <inttypes.h>
#include <endian.h>
#include <string.h>

#include "addr.h"
#include "explain.h"
#include "log.h"
#include "message.h"
#include "options.h"
#include "pattern.h"

static struct {
	const char *address, *port;
	int seconds, bytes, cycles;
	int writes; /* 0: sum; 1: write */
} options = { .port = "22228", .seconds = 10, .cycles = 2 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS",
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do",
	  .text = &options.address },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'b', "bytes", "BYTES",
	  "memory to write to, and of a request; both ends need the same",
	  .number = &options.bytes, .min = PATTERN_MIN, .max = MSG_MAX_REQUEST,
	  .otherwise = "1024" },
	{ 'N', "cycles", "COUNT", "requests, one after another",
	  .number = &options.cycles, .min = 1, .max = 1000000 },
	{ .value = "sum|write", .word = &options.writes },
};

static const char purpose[] =
	"usage: ./client -a ADDRESS [OPTION]... sum|write\n\n"
	"Connects to a server, sends requests, and checks the answers: with sum, checksums\n"
	"of the data; with write, also that the server has written the data to its memory.\n\n"
	"example: ./client -a 192.0.2.1 write";

/* What the device reads and writes while we ask. */
struct asking {
	struct request request;
	struct msg answer;
};

static int open_memory(struct transfer *transfer, struct region *region)
{
	if (transfer_open(transfer))
		return -1;
	options.bytes = transfer->local.size;
	return region_open(region, transfer->conn, sizeof(struct asking),
			   IBV_ACCESS_LOCAL_WRITE);
}

static int send_request(struct conn *conn, const struct region *region)
{
	struct request *request = &((struct asking *)region->buf)->request;
	struct ibv_sge sge = {
		.addr = (uintptr_t)request,
		.length = sizeof(request->msg) + options.bytes,
		.lkey = region->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)request,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	return conn_post(conn, &wr);
}

/* Waits until our request is complete, and the answer is here, of so many bytes. */
static int wait_answer(struct conn *conn, const struct asking *asking,
		       uint32_t *length)
{
	struct ibv_wc wc;

	/* The answer may be first: its acknowledgement may be late. */
	for (int i = 0; i < 2; i++) {
		bool sent;

		if (conn_wait(conn, &wc))
			return -1;
		sent = wc.wr_id == (uintptr_t)&asking->request;
		if (wc.status != IBV_WC_SUCCESS)
			return explain_completion(
				sent ? "send of MSG_REQUEST" : "receive", &wc);
		if (wc.opcode != (sent ? IBV_WC_SEND : IBV_WC_RECV))
			return log_fail(
				"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
				wc.opcode);
		if (!sent)
			*length = wc.byte_len;
	}
	return 0;
}

static int check_answer(const struct asking *asking, uint32_t length,
			const struct region *written)
{
	const struct msg *answer = &asking->answer;
	const char *data = asking->request.data;

	if (msg_check(answer, length))
		return -1;
	if (answer->type != MSG_ANSWER ||
	    be32toh(answer->length) != (uint32_t)options.bytes)
		return log_fail(
			"protocol error: a message of type %d about %u bytes where the answer for %d was expected",
			answer->type, be32toh(answer->length), options.bytes);
	if (be64toh(answer->addr) != msg_checksum(data, options.bytes))
		return log_fail("the checksum 0x%016" PRIx64
				" is not that of what was sent",
				be64toh(answer->addr));
	/* The write is older than the answer, so all of it must be here. */
	if (options.writes && memcmp(written->buf, data, options.bytes))
		return log_fail(
			"what the server wrote is not what was sent to it");
	return 0;
}

/* Asks, and waits for the answer. Returns 0, or -1 after reporting why. */
static int ask(struct transfer *transfer, const struct region *region)
{
	struct asking *asking = region->buf;
	struct conn *conn = transfer->conn;
	uint32_t length = 0;

	/* Before the request, or the answer may find no receive. */
	if (conn_post_recv(conn, region, &asking->answer,
			   sizeof(asking->answer)))
		return -1;
	if (send_request(conn, region))
		return -1;
	if (wait_answer(conn, asking, &length))
		return -1;
	return check_answer(asking, length, &transfer->exposed);
}

/* Exchanges regions, writes, and then asks. */
static int converse(struct transfer *transfer, const struct region *region)
{
	struct request *request = &((struct asking *)region->buf)->request;

	if (transfer_start(transfer) || transfer_run(transfer))
		return -1;
	log_line("[LOG] WRITE: Both DONE, sending requests");
	if (transfer_check(transfer))
		return -1;
	/* What we wrote, once more. */
	request->msg = msg_make(MSG_REQUEST, options.writes ? MODE_WRITE : 0, 0,
				0, options.bytes);
	memcpy(request->data, transfer->local.buf, options.bytes);
	for (int i = 1; i <= options.cycles; i++) {
		if (ask(transfer, region))
			return -1;
		log_line("request %d of %d: %d bytes, the checksum is right%s.",
			 i, options.cycles, options.bytes,
			 options.writes ? ", and so is what was written" : "");
	}
	return 0;
}

/* Finds the device and the path that lead to the server. */
static int find_server(struct conn *conn)
{
	struct addrinfo *addresses;
	int ret;

	if (addr_lookup(options.address, options.port, &addresses))
		return -1;
	ret = conn_resolve(conn, addresses);
	freeaddrinfo(addresses);
	return ret;
}

int main(int argc, char **argv)
{
	struct conn conn = { 0 };
	struct transfer transfer = { .conn = &conn, .who = "active/client" };
	struct region region = { 0 };
	int ret = -1, status = options_parse(rows, purpose, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.address) {
		log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 write");
		return EXIT_USAGE;
	}
	conn.patience = (struct patience){ options.seconds * 1000, -1 };
	transfer.mode = MODE_WRITE;
	transfer.bytes = options.bytes;
	/* 1. Find the device and the path that lead to the server. */
	if (find_server(&conn))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&conn, TRANSFER_SENDS, TRANSFER_RECEIVES))
		goto out;
	/* 3. Let the device use our memory, and the server some of it. */
	if (open_memory(&transfer, &region))
		goto out;
	/* 4. Post all receives, before the server can possibly send. */
	if (transfer_post_receives(&transfer))
		goto out;
	/* 5. Connect, and wait until the connection is established. */
	if (conn_connect(&conn))
		goto out;
	/* 6. Exchange memory regions, write, and send requests. */
	if (converse(&transfer, &region))
		goto out;
	/* 7. Disconnect. */
	ret = conn_disconnect(&conn);
out:
	/* 8. Tell the peer, and free everything. */
	log_line("[LOG] closing connection conn=%p, id=%p", (void *)&conn,
		 (void *)conn.id);
	conn_end(&conn);
	region_close(&region);
	transfer_close(&transfer);
	conn_close(&conn);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
