/*
 * test_08_guests.c - guests of a device that reports otherwise than rxe does: a message
 * before its connection, and a flush that never ends
 */
#include "guests.h"

#include "log.h"
#include "test.h"

static int disconnects;

int rdma_disconnect(struct rdma_cm_id *id)
{
	(void)id;
	disconnects++;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	assert_int_equal(mask, IBV_QP_STATE);
	assert_int_equal(attr->qp_state, IBV_QPS_ERR);
	return 0;
}

/* Nothing is complete. */
static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	(void)cq;
	(void)most;
	(void)wc;
	return 0;
}

static struct ibv_context context = { .ops.poll_cq = poll_cq };
static struct ibv_cq cq = { .context = &context };
static struct rdma_cm_id id;
static struct loop loop;
static struct shared shared = { .all.cq = &cq, .loop = &loop };
static struct guests guests;
static struct guest guest;

static int setup(void **state)
{
	(void)state;
	disconnects = 0;
	loop.now = wait_deadline(60000);
	guests = (struct guests){ .loop = &loop,
				  .shared = &shared,
				  .timeouts = { 1000, 2000, 3000, 4000 } };
	guest = (struct guest){ .shared = &shared,
				.id = &id,
				.state = GUEST_COMES,
				.deadline = INT64_MAX,
				.echoes = 1,
				.number = 7 };
	guests_open(&guests);
	TAILQ_INSERT_TAIL(&guests.lists[GUEST_COMES], &guest, link);
	guests_leave(&guests, &guest);
	return guest.state != GUEST_LEAVES;
}

/* One that had to leave before its connection was there is told when it is. */
TEST_AROUND(too_fast, setup, NULL)
{
	assert_int_equal(disconnects, 0);
	guests_welcome(&guests, &guest);
	assert_int_equal(guest.state, GUEST_LEAVES);
	assert_int_equal(disconnects, 1);
}

/* One whose flush never ends, ends the server; what it says afterwards is its own. */
TEST_AROUND(flush, setup, NULL)
{
	guest.deadline = loop.now;
	/* What is in the CQ may have been all that is missing: that is taken first. */
	assert_int_equal(guests_turn(&guests), 0);
	assert_int_equal(CAPTURED(guests_turn(&guests)), -1);
	assert_one_line(said.err, "error: Client 7: the flush of all echoes: "
				  "nothing came within 4 s");
	CAPTURE(log_line("all is over"));
	assert_string_equal(said.out, "all is over\n");
}
