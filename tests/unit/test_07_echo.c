/*
 * test_07_echo.c - SENDs in a benchmark: what a peer can do wrong with them
 *
 * What the device completes next is told by the test.
 */
#include "echo.h"

#include <endian.h>
#include <string.h>

#include "scripted.h"
#include "stats.h"

#define DEPTH 4

/* What comes, in this order; after the last one, the peer leaves. */
static struct ibv_wc comes[8];
static unsigned int next, end;

static struct rdma_cm_id id = { .qp = &qp };
static struct conn conn;
static char memory[64];
static struct bench bench = {
	.conn = &conn,
	.depth = DEPTH,
	.memory = { .buf = memory, .size = sizeof(memory), .mr = &mr },
};

int conn_wait(struct conn *asked, struct ibv_wc *wc)
{
	assert_ptr_equal(asked, &conn);
	if (next == end) {
		conn.established = false;
		*wc = (struct ibv_wc){ .status = IBV_WC_WR_FLUSH_ERR };
		return 0;
	}
	*wc = comes[next++];
	return 0;
}

uint64_t stats_now(void)
{
	static uint64_t now;

	return ++now;
}

static void reset(void)
{
	dev_reset();
	next = end = 0;
	conn = (struct conn){ .id = &id, .established = true };
}

/* The number that was sent last: credits. */
static uint32_t last_imm(void)
{
	return be32toh(dev.requests[dev.posted - 1].wr.imm_data);
}

/* A completion that is to come. imm is of a SEND that asks; 0: it does not. */
static void will_come(enum ibv_wc_opcode opcode, uint32_t imm)
{
	comes[end++] = (struct ibv_wc){
		.opcode = opcode,
		.wc_flags = imm ? IBV_WC_WITH_IMM : 0,
		.imm_data = htobe32(imm),
	};
}

static int serve(void)
{
	return CAPTURED(echo_serve(&bench, sizeof(memory)));
}

static int send_all(unsigned int count)
{
	struct credits credits = { 0 };

	return CAPTURED(echo_send(&bench, &credits, DEPTH, count, NULL));
}

/* The first answer says how many receives there are, the next what is new. */
TEST(serve)
{
	reset();
	will_come(IBV_WC_RECV, 1);
	will_come(IBV_WC_SEND, 0);
	assert_int_equal(serve(), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(dev.receives, 1);
	assert_int_equal(dev.posted, 1);
	assert_int_equal(last_imm(), DEPTH);
	reset();
	will_come(IBV_WC_RECV, 1);
	will_come(IBV_WC_RECV, 0);
	will_come(IBV_WC_RECV, 0);
	will_come(IBV_WC_RECV, 1);
	assert_int_equal(serve(), 0);
	assert_int_equal(dev.receives, 4);
	assert_int_equal(dev.posted, 2);
	assert_int_equal(last_imm(), 3);
}

/* Before its first SEND, and between two. */
TEST(peer_leaves)
{
	reset();
	assert_int_equal(serve(), -1);
	assert_one_line(said.err, "error: the peer left in a benchmark");
	reset();
	will_come(IBV_WC_RECV, 1);
	will_come(IBV_WC_RECV, 0);
	assert_int_equal(serve(), -1);
	assert_one_line(said.err, "error: the peer left in a benchmark");
	reset();
	assert_int_equal(send_all(1), -1);
	assert_one_line(said.err, "error: the peer left in a benchmark");
}

/* A write with immediate data takes a receive and is no message. */
TEST(write)
{
	reset();
	will_come(IBV_WC_RECV_RDMA_WITH_IMM, 1);
	assert_int_equal(serve(), -1);
	assert_one_line(said.err, "error: protocol error: a completion with "
				  "opcode 129");
	assert_int_equal(dev.receives + dev.posted, 0);
}

TEST(status)
{
	reset();
	will_come(IBV_WC_RECV, 1);
	comes[0].status = IBV_WC_LOC_LEN_ERR;
	assert_int_equal(serve(), -1);
	assert_one_line(said.err, "error: SEND of a benchmark: status 1 (");
}

/* Credits that cannot be: none, and more than there are receives. */
TEST(credits)
{
	static const struct {
		uint32_t first, second;
		const char *error;
	} wrong[] = {
		{ 0, 0, "error: protocol error: 0 credits, of 0" },
		{ DEPTH, 0, "error: protocol error: 0 credits, of 4" },
		{ DEPTH, 2, "error: protocol error: 2 credits, of 4" },
	};

	for (int i = 0; i < 3; i++) {
		reset();
		will_come(IBV_WC_RECV, wrong[i].first);
		will_come(IBV_WC_RECV, wrong[i].second);
		assert_int_equal(send_all(2), -1);
		assert_one_line(said.err, wrong[i].error);
	}
	reset();
	will_come(IBV_WC_RECV, DEPTH);
	will_come(IBV_WC_RECV, 1);
	assert_int_equal(send_all(2), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(dev.posted, 2);
}
