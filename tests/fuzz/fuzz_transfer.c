/*
 * fuzz_transfer.c - a transfer with a peer that says anything, in any order
 *
 * The connection is played. An input is a sequence of steps: a byte that says what
 * comes next and, for a message, its bytes. Whatever comes, the transfer ends; it posts
 * each request once, and reaches only memory that the first MSG_MR named.
 */
#include "transfer.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp.h"
#include "limit.h"

enum {
	MESSAGE = 24,
	MEMORY = 64,
	RECEIVES = 2,
	SENDS = 3
};

static const uint8_t *rest;
static size_t left;
static struct ibv_mr mr = { .lkey = 1, .rkey = 2 };
/* What is posted, and how much of that is complete. */
static uint64_t receives[RECEIVES], sends[SENDS];
static enum ibv_wr_opcode opcodes[SENDS];
static int posted, taken, sent, done;
static uint8_t first[MESSAGE];

#define MUST(what)               \
	do {                     \
		if (!(what))     \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int limit_check_bytes(struct ibv_context *verbs, uint8_t port_num, size_t size)
{
	(void)verbs;
	(void)port_num;
	return size > MEMORY ? -1 : 0;
}

bool iwarp_is(const struct ibv_context *verbs)
{
	(void)verbs;
	return false;
}

int region_open(struct region *region, struct conn *conn, size_t size,
		int access)
{
	(void)conn;
	(void)access;
	region->buf = calloc(1, size);
	region->size = size;
	region->mr = &mr;
	return region->buf ? 0 : -1;
}

void region_close(struct region *region)
{
	free(region->buf);
	*region = (struct region){ 0 };
}

int conn_post_recv(struct conn *conn, const struct region *region, void *buf,
		   uint32_t length)
{
	(void)conn;
	(void)region;
	MUST(length == MESSAGE && posted < RECEIVES);
	receives[posted++] = (uintptr_t)buf;
	return 0;
}

int conn_post(struct conn *conn, struct ibv_send_wr *wr)
{
	uint64_t addr;
	uint32_t rkey, length;

	(void)conn;
	/* Each once: MSG_MR, the write, MSG_DONE; and what it is of is there. */
	MUST(sent < SENDS && wr->num_sge == 1);
	MUST(wr->opcode == (sent == 1 ? IBV_WR_RDMA_WRITE : IBV_WR_SEND));
	if (sent == 1) {
		memcpy(&addr, first + 8, sizeof(addr));
		memcpy(&rkey, first + 16, sizeof(rkey));
		memcpy(&length, first + 20, sizeof(length));
		MUST(be32toh(length) == MEMORY && first[6] == MODE_WRITE);
		MUST(taken && done && wr->wr.rdma.rkey == be32toh(rkey));
		MUST(wr->wr.rdma.remote_addr == be64toh(addr));
		MUST(wr->sg_list->length == MEMORY);
	}
	opcodes[sent] = wr->opcode;
	sends[sent++] = wr->wr_id;
	return 0;
}

static uint8_t next(void)
{
	left--;
	return *rest++;
}

/* A message uses up a receive. Its length may be wrong. */
static int take_message(struct ibv_wc *wc)
{
	size_t length = left < MESSAGE ? left : MESSAGE;

	wc->opcode = IBV_WC_RECV;
	wc->wr_id = receives[taken];
	wc->byte_len = length;
	memcpy((void *)(uintptr_t)wc->wr_id, rest, length);
	if (!taken)
		memcpy(first, rest, length);
	taken++;
	rest += length;
	left -= length;
	return 0;
}

int conn_wait(struct conn *conn, struct ibv_wc *wc)
{
	uint8_t step;

	(void)conn;
	*wc = (struct ibv_wc){ .status = IBV_WC_SUCCESS };
	if (!left)
		return -1;
	step = next();
	if (step == 'i' && taken < RECEIVES) {
		wc->opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		wc->wr_id = receives[taken++];
		return 0;
	}
	if (step == 'm' && taken < RECEIVES)
		return take_message(wc);
	if (done == sent)
		return -1;
	wc->opcode =
		opcodes[done] == IBV_WR_SEND ? IBV_WC_SEND : IBV_WC_RDMA_WRITE;
	wc->wr_id = sends[done++];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct rdma_cm_id id = { 0 };
	struct conn conn = { .id = &id };
	struct transfer transfer = {
		.conn = &conn,
		.mode = MODE_WRITE,
		.bytes = MEMORY,
		.who = "fuzzed",
	};

	rest = bytes;
	left = size;
	posted = taken = sent = done = 0;
	memset(first, 0, sizeof(first));
	MUST(!transfer_open(&transfer) && !transfer_post_receives(&transfer));
	if (size && size % 2)
		MUST(!transfer_start(&transfer));
	/* All is there if it says so. */
	if (!transfer_run(&transfer))
		MUST(sent == SENDS && done == SENDS && taken == RECEIVES);
	transfer_close(&transfer);
	return 0;
}
