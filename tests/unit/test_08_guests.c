/*
 * test_08_guests.c - how many messages a guest may have, what is said to one that leaves, or takes
 * too long, when nothing of it is left in the CQ, and who is found
 */
#include "guests.h"

#include "log.h"
#include "scripted.h"

#define MOST (GUEST_WINDOW + 1)

static struct ibv_srq srq;
static struct rdma_cm_id id;
static struct loop loop;
static struct guests guests;
static struct shared shared;
static struct guest guest;
static struct receive receives[MOST];
/* What the CQ has: these, from the first on that was not taken. */
static struct ibv_wc found[MOST];
static int taken, there;
static int disconnects;

int rdma_disconnect(struct rdma_cm_id *from)
{
	assert_ptr_equal(from, &id);
	disconnects++;
	return 0;
}

static int completions(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	int n = there - taken < most ? there - taken : most;

	(void)cq;
	memcpy(wc, found + taken, n * sizeof(*wc));
	taken += n;
	return n;
}

/* So many are complete, from the first receive on: a message each, or its echo. */
static int complete(int count, enum ibv_wc_status status)
{
	taken = 0;
	there = count;
	shared.busy = true;
	for (int i = 0; i < count; i++)
		found[i] = (struct ibv_wc){
			.wr_id = (uintptr_t)&receives[i],
			.status = status,
			.opcode = IBV_WC_RECV,
			.byte_len = 100,
			.qp_num = qp.qp_num,
		};
	return guests_turn(&guests);
}

static int setup(void **state)
{
	(void)state;
	dev_reset();
	disconnects = 0;
	context.ops.poll_cq = completions;
	srq.context = &context;
	id.qp = &qp;
	loop = (struct loop){ .now = wait_deadline(60000) };
	/* Nobody is freed: the device has yet to say that this was the last. */
	shared = (struct shared){ .srq = &srq,
				  .all.cq = &cq,
				  .count = MOST,
				  .posted = MOST,
				  .loop = &loop,
				  .tells = true };
	guests = (struct guests){ .loop = &loop,
				  .shared = &shared,
				  .timeouts = { 1000, 2000, 3000, 4000 } };
	guest = (struct guest){ .shared = &shared,
				.id = &id,
				.state = GUEST_SENDS,
				.deadline = INT64_MAX,
				.number = 7 };
	guests_open(&guests);
	TAILQ_INSERT_TAIL(&guests.lists[GUEST_SENDS], &guest, link);
	for (int i = 0; i < MOST; i++)
		receives[i] = (struct receive){ &mr, i + 1, false, "" };
	return shared_add(&shared, &guest.member, qp.qp_num);
}

static int teardown(void **state)
{
	(void)state;
	shared_remove(&shared, &guest.member);
	return 0;
}

/* An echo comes from the receive's own memory, which is posted again behind it. */
TEST_AROUND(echo, setup, teardown)
{
	assert_int_equal(complete(1, IBV_WC_SUCCESS), 0);
	assert_int_equal(dev.posted, 1);
	assert_ptr_equal((void *)(uintptr_t)dev.requests[0].sge.addr,
			 receives[0].came);
	assert_int_equal(dev.requests[0].sge.length, 100);
	assert_int_equal(guest.state, GUEST_TAKES);
	assert_int_equal(dev.receives, 0);
	assert_int_equal(complete(1, IBV_WC_SUCCESS), 0);
	assert_int_equal(guest.state, GUEST_SENDS);
	assert_int_equal(dev.receives, 1);
}

/* One that takes no echo is sent away, and the receives are there again. */
TEST_AROUND(window, setup, teardown)
{
	int ret;

	assert_int_equal(complete(GUEST_WINDOW, IBV_WC_SUCCESS), 0);
	assert_int_equal(guest.echoes, GUEST_WINDOW);
	receives[0] = receives[GUEST_WINDOW];
	ret = CAPTURED(complete(1, IBV_WC_SUCCESS));
	assert_int_equal(ret, 0);
	assert_one_line(said.err, "Client 7: 15 messages, of which no echo was "
				  "taken; at most 7 may be without one");
	assert_int_equal(guest.state, GUEST_LEAVES);
	assert_int_equal(dev.told.qp_state, IBV_QPS_ERR);
	assert_int_equal(dev.posted, GUEST_WINDOW);
	assert_int_equal(dev.receives, 1);
	receives[0].returns = true;
	assert_int_equal(complete(GUEST_WINDOW, IBV_WC_WR_FLUSH_ERR), 0);
	assert_int_equal(guest.echoes, 0);
	assert_int_equal(dev.receives, MOST);
}

/* One that had to leave before its connection was there is told when it is. */
TEST_AROUND(too_fast, setup, teardown)
{
	guests_leave(&guests, &guest);
	assert_int_equal(disconnects, 0);
	guests_welcome(&guests, &guest);
	assert_int_equal(guest.state, GUEST_LEAVES);
	assert_int_equal(disconnects, 1);
}

/* One whose flush never ends, ends the server; what it says afterwards is its own. */
TEST_AROUND(flush, setup, teardown)
{
	int ret;

	guest.echoes = 1;
	guests_leave(&guests, &guest);
	assert_int_equal(guest.state, GUEST_LEAVES);
	guest.deadline = loop.now;
	/* What is in the CQ may have been all that is missing: that is taken first. */
	assert_int_equal(complete(0, 0), 0);
	ret = CAPTURED(complete(0, 0));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "error: Client 7: the flush of all echoes: "
				  "nothing came within 4 s");
	CAPTURED((log_line("all is over"), 0));
	assert_string_equal(said.out, "all is over\n");
}

/* The CQ is never found empty: it is drained by as much as it could hold. */
TEST_AROUND(never_empty, setup, teardown)
{
	struct ibv_wc wc[SHARED_POLL];

	shared_mark(&shared, &guest.member);
	for (int i = 0; i < MOST / SHARED_POLL + 1; i++) {
		assert_false(shared_is_drained(&shared, &guest.member));
		taken = 0;
		there = SHARED_POLL;
		assert_int_equal(shared_poll(&shared, wc), SHARED_POLL);
	}
	assert_true(shared_is_drained(&shared, &guest.member));
	/* Or it is found empty. */
	shared_mark(&shared, &guest.member);
	assert_false(shared_is_drained(&shared, &guest.member));
	taken = there;
	assert_int_equal(shared_poll(&shared, wc), 0);
	assert_true(shared_is_drained(&shared, &guest.member));
}

/* Members are found by their number, and only those that are there. */
TEST(found)
{
	static struct shared all;
	struct member members[4] = { 0 };

	assert_null(shared_find(&all, 5));
	for (int i = 0; i < 4; i++)
		assert_int_equal(shared_add(&all, &members[i], 5 + i), 0);
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(shared_find(&all, 5 + i), &members[i]);
	assert_null(shared_find(&all, 9));
	shared_remove(&all, &members[1]);
	assert_null(shared_find(&all, 6));
	assert_ptr_equal(shared_find(&all, 7), &members[2]);
	/* What is not there can be removed again. */
	for (int i = 0; i < 4; i++)
		shared_remove(&all, &members[i]);
	assert_null(shared_find(&all, 5));
}
