/*
 * test_08_reply.c - how many requests a client may have, and what is posted for each
 */
#include "reply.h"

#include "scripted.h"

#define DATA 100

static struct ibv_srq srq;
static struct loop loop_here;
static struct hub hub;
static struct guests guests;
static struct guest guest;
static struct receive *receives[16];

/* The request that was posted as the nth. */
static const struct ibv_send_wr *posted(int n)
{
	return &dev.requests[n].wr;
}

static struct receive *request_of(int i, enum mode mode)
{
	struct receive *receive = receives[i];

	receive->mr = &mr;
	receive->users = 1;
	receive->length = MSG_SIZE + DATA;
	msg_encode(&(struct msg){ .type = MSG_REQUEST,
				  .mode = mode,
				  .mem.length = DATA },
		   receive->bytes);
	return receive;
}

static int setup(void **state)
{
	(void)state;
	dev_reset();
	srq.context = &context;
	hub.receives = (struct receives){ .srq = &srq };
	guests = (struct guests){ .hubs = &hub, .loop = &loop_here };
	guest = (struct guest){ .state = GUEST_ASKS,
				.hub = &hub,
				.link.owner = &guest,
				.conn.qp = &qp,
				.data.conn = &guest.conn,
				.transfer.peer = { 0x10000, 0x77, DATA } };
	list_append(&guests.lists[GUEST_ASKS], &guest.link);
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
	struct receive *receive = request_of(0, MODE_WRITE);
	struct msg msg;

	assert_int_equal(reply_request(&guests, &guest, receive), 0);
	assert_int_equal(dev.posted, 2);
	assert_int_equal(posted(0)->opcode, IBV_WR_RDMA_WRITE);
	assert_true(posted(0)->wr.rdma.remote_addr == 0x10000);
	assert_int_equal(posted(1)->opcode, IBV_WR_SEND);
	assert_ptr_equal(receives_find(posted(0)->wr_id), receive);
	assert_ptr_equal(receives_find(posted(1)->wr_id), receive);
	assert_int_equal(guest.conn.pending, 2);
	/* The answer stands where the request did, and the write's bytes behind it. */
	assert_ptr_equal((void *)(uintptr_t)dev.requests[0].sge.addr,
			 receive->bytes + MSG_SIZE);
	assert_ptr_equal((void *)(uintptr_t)dev.requests[1].sge.addr,
			 receive->bytes);
	assert_int_equal(msg_decode(&msg, receive->bytes, MSG_SIZE), 0);
	assert_int_equal(msg.type, MSG_ANSWER);
	assert_int_equal(msg.mem.length, DATA);
	/* Who looks at it, and the two that were posted. */
	assert_int_equal(receive->users, 3);
	/* It is posted again when the last of them is done. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dev.receives, 0);
		receives_release(&hub.receives, receive);
	}
	assert_int_equal(dev.receives, 1);
}

/* Nothing is written beyond what the client has. */
TEST_AROUND(too_far, setup, teardown)
{
	int ret;

	guest.transfer.peer.length = DATA - 1;
	ret = CAPTURED(
		reply_request(&guests, &guest, request_of(0, MODE_WRITE)));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "the client wants 100 bytes written");
	assert_int_equal(dev.posted, 0);
}

/* Seven are answered, and seven more wait; the next is too much. */
TEST_AROUND(window, setup, teardown)
{
	int ret;

	for (int i = 0; i < 2 * GUESTS_WINDOW; i++)
		assert_int_equal(
			reply_request(&guests, &guest, request_of(i, 0)), 0);
	assert_int_equal(dev.posted, GUESTS_WINDOW);
	assert_int_equal(guest.state, GUEST_TAKES);
	ret = CAPTURED(reply_request(&guests, &guest,
				     request_of(2 * GUESTS_WINDOW, 0)));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "15 requests, of which no answer was taken; "
				  "at most 7 may be without one");
	assert_int_equal(dev.posted, GUESTS_WINDOW);
	/* One is taken: the first that waits is answered. */
	guest.under_way--;
	assert_int_equal(reply_go_on(&guests, &guest), 0);
	assert_int_equal(dev.posted, GUESTS_WINDOW + 1);
	assert_ptr_equal(receives_find(posted(dev.posted - 1)->wr_id),
			 receives[GUESTS_WINDOW]);
	assert_int_equal(guest.waits, GUESTS_WINDOW - 1);
	assert_int_equal(dev.receives, 0);
}
