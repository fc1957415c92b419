/*
 * test_08_talk.c - how many requests a client may have, and what is posted for each
 */
#include "talk.h"

#include "scripted.h"

#define DATA 100

static struct ibv_srq srq;
static struct rdma_cm_id id;
static struct shared shared;
static struct talk talk;
static struct receive *receives[16];

/* The request that was posted as the nth. */
static const struct ibv_send_wr *posted(int n)
{
	return &dev.requests[n].wr;
}

/* A request comes with the ith receive. */
static int request(int i, enum mode mode)
{
	struct receive *receive = receives[i];
	struct ibv_wc wc = {
		.wr_id = (uintptr_t)receive + WORK_RECEIVE,
		.opcode = IBV_WC_RECV,
		.byte_len = sizeof(struct msg) + DATA,
	};

	receive->mr = &mr;
	receive->users = 1;
	receive->came.msg = msg_make(MSG_REQUEST, mode, 0, 0, DATA);
	return talk_receive(&talk, &wc);
}

static int setup(void **state)
{
	(void)state;
	dev_reset();
	srq.context = &context;
	id.qp = &qp;
	shared = (struct shared){ .srq = &srq };
	talk = (struct talk){
		.shared = &shared,
		.id = &id,
		.states = { SS_DONE_SENT, RS_DONE_RECV, true },
		.peer = { 0x10000, 0x77, DATA },
	};
	for (int i = 0; i < 16; i++)
		receives[i] = calloc(1, sizeof(struct receive));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i++)
		free(receives[i]);
	return 0;
}

/* The write goes first, both from the receive's own memory. */
TEST_AROUND(write, setup, teardown)
{
	struct receive *receive = receives[0];
	struct request *came = &receive->came;

	assert_int_equal(request(0, MODE_WRITE), 0);
	assert_int_equal(dev.posted, 2);
	assert_int_equal(posted(0)->opcode, IBV_WR_RDMA_WRITE);
	assert_true(posted(0)->wr.rdma.remote_addr == 0x10000);
	assert_int_equal(posted(1)->opcode, IBV_WR_SEND);
	assert_ptr_equal(receive_of(posted(0)->wr_id), receive);
	assert_ptr_equal(receive_of(posted(1)->wr_id), receive);
	assert_int_equal(talk.pending, 2);
	/* The answer stands where the request did, and the write's bytes behind it. */
	assert_ptr_equal((void *)(uintptr_t)dev.requests[0].sge.addr,
			 came->data);
	assert_ptr_equal((void *)(uintptr_t)dev.requests[1].sge.addr, came);
	assert_int_equal(msg_check(&came->msg, sizeof(came->msg)), 0);
	assert_int_equal(came->msg.type, MSG_ANSWER);
	assert_int_equal(be32toh(came->msg.length), DATA);
	/* Who looks at it, and the two that were posted. */
	assert_int_equal(receive->users, 3);
	/* It is posted again when the last of them is done. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dev.receives, 0);
		receive_release(&shared, receive);
	}
	assert_int_equal(dev.receives, 1);
}

/* Nothing is written beyond what the client has. */
TEST_AROUND(too_far, setup, teardown)
{
	int ret;

	talk.peer.length = DATA - 1;
	ret = CAPTURED(request(0, MODE_WRITE));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "the client wants 100 bytes written");
	assert_int_equal(dev.posted, 0);
}

/* Seven are answered, and seven more wait; the next is too much. */
TEST_AROUND(window, setup, teardown)
{
	struct ibv_wc taken = { 0 };
	int ret;

	for (int i = 0; i < 2 * TALK_WINDOW; i++)
		assert_int_equal(request(i, 0), 0);
	assert_int_equal(dev.posted, TALK_WINDOW);
	assert_int_equal(talk.under_way, TALK_WINDOW);
	ret = CAPTURED(request(2 * TALK_WINDOW, 0));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "15 requests, of which no answer was taken; "
				  "at most 7 may be without one");
	assert_int_equal(dev.posted, TALK_WINDOW);
	/* One is taken: the first that waits is answered. */
	taken.wr_id = posted(0)->wr_id;
	assert_int_equal(talk_send(&talk, &taken), 0);
	assert_int_equal(dev.posted, TALK_WINDOW + 1);
	assert_ptr_equal(receive_of(posted(dev.posted - 1)->wr_id),
			 receives[TALK_WINDOW]);
	assert_int_equal(talk.waits, TALK_WINDOW - 1);
	assert_int_equal(dev.receives, 0);
	/* What still waits is given back, and may be used by others. */
	talk_close(&talk);
	assert_int_equal(talk.waits, 0);
}
