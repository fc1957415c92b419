/*
 * test_07_echo.c - SENDs in a benchmark: what a peer can do wrong with them
 *
 * The device is made up: what it completes next is told by the test.
 */
#include "echo.h"

#include <endian.h>
#include <string.h>

#include "test.h"
#include "stats.h"

#define DEPTH 4

/* What comes, in this order; after the last one, the peer leaves. */
static struct ibv_wc comes[8];
static unsigned int next, end;
static unsigned int receives, sends;
static uint32_t last_imm;

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	(void)qp;
	(void)bad;
	assert_true(wr->wr_id != 0);
	receives++;
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	(void)qp;
	(void)bad;
	/* What reports has a wr_id, and nothing else has. */
	assert_true(!wr->wr_id == !(wr->send_flags & IBV_SEND_SIGNALED));
	sends++;
	last_imm = be32toh(wr->imm_data);
	return 0;
}

static struct ibv_context context = {
	.ops = { .post_send = post_send, .post_recv = post_recv },
};
static struct ibv_qp qp = { .context = &context };
static struct ibv_mr mr = { .lkey = 7 };
static struct conn conn = { .qp = &qp };
static char memory[64];
static struct data data = {
	.conn = &conn,
	.local = { .buf = memory, .size = sizeof(memory), .mr = &mr },
	.exposed = { .buf = memory, .size = sizeof(memory), .mr = &mr },
};

int data_next(struct data *asked, struct ibv_wc *wc)
{
	assert_ptr_equal(asked, &data);
	if (next == end) {
		conn.peer_left = true;
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
	next = end = receives = sends = 0;
	last_imm = 0;
	conn = (struct conn){ .qp = &qp };
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
	return CAPTURED(echo_serve(&data, sizeof(memory), DEPTH));
}

static int send_all(unsigned int count)
{
	struct credits credits = { 0 };

	return CAPTURED(echo_send(&data, &credits, DEPTH, count, NULL));
}

/* The first answer says how many receives there are, the next what is new. */
TEST(serve)
{
	reset();
	will_come(IBV_WC_RECV, 1);
	will_come(IBV_WC_SEND, 0);
	assert_int_equal(serve(), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(receives, 1);
	assert_int_equal(sends, 1);
	assert_int_equal(last_imm, DEPTH);
	reset();
	will_come(IBV_WC_RECV, 1);
	will_come(IBV_WC_RECV, 0);
	will_come(IBV_WC_RECV, 0);
	will_come(IBV_WC_RECV, 1);
	assert_int_equal(serve(), 0);
	assert_int_equal(receives, 4);
	assert_int_equal(sends, 2);
	assert_int_equal(last_imm, 3);
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
	assert_int_equal(receives + sends, 0);
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
	assert_int_equal(sends, 2);
}
