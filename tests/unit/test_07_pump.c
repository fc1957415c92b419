/*
 * test_07_pump.c - a device that completes nothing, which rxe never is: the benchmark's
 * loop is given up, and its signs of life do not fill the queue until then
 */
#include "pump.h"

#include "stats.h"
#include "test.h"

#define S 1000000000ULL

static uint64_t clock_ns;
static unsigned int posted;
static char memory[64];

/* A tenth of a second passes from one look at the clock to the next. */
uint64_t stats_now(void)
{
	return clock_ns += S / 10;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	(void)qp;
	(void)bad;
	for (; wr; wr = wr->next)
		posted++;
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wcs)
{
	(void)cq;
	(void)max;
	(void)wcs;
	return 0;
}

static struct ibv_context context = {
	.ops = { .post_send = post_send, .poll_cq = poll_cq },
};
static struct ibv_cq cq = { .context = &context };
static struct ibv_qp qp = { .context = &context };
static struct ibv_mr mr;
static struct rdma_cm_id id = { .qp = &qp };
static struct rdma_event_channel silent = { .fd = -1 };
static struct conn conn = {
	.patience = { .timeout_ms = 3000, .stop_fd = -1 },
	.events = &silent,
	.id = &id,
	.cq = &cq,
};
static struct talk talk = { .messages = { .buf = memory, .mr = &mr } };
static struct bench bench = {
	.conn = &conn,
	.talk = &talk,
	.memory = { .buf = memory, .size = sizeof(memory), .mr = &mr },
	.max_inline = sizeof(memory),
};

/* A queue of 8, of which 4 are for operations. */
static void run(uint64_t where)
{
	struct pump pump = {
		.bench = &bench,
		.opcode = IBV_WR_RDMA_WRITE,
		.beat = where,
		.beats_max = 4,
	};

	clock_ns = posted = 0;
	assert_int_equal(CAPTURED(pump_run(&pump, 4, 100, NULL)), -1);
	assert_one_line(said.err, "a completion: nothing came within 3 s");
	assert_true(clock_ns >= 3 * S && clock_ns < 5 * S);
}

TEST(without_signs_of_life)
{
	run(0);
	assert_int_equal(posted, 4);
}

/* Four a second would be 12. */
TEST(with_signs_of_life)
{
	run((uintptr_t)memory);
	assert_int_equal(posted, 4 + 4);
}
