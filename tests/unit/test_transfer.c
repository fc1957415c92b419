/*
 * test_transfer.c - from completions, in every order, to what is posted and said
 *
 * The completions are played: see play(). Chapter 02's first message is MSG_MR; in
 * chapter 04 the parameters have said what it says.
 */
#include "transfer.h"

#include "data_device.h"
#include "story.h"

#define SIZE 1024

/* What comes next: one of our requests is complete, or a message is here. */
enum step {
	END,
	MR_SENT,
	RDMA_DONE,
	DONE_SENT,
	MR,
	DONE,
	BELOW, /* these two are of another connection */
	BEYOND
};

static const enum step *next;
static struct msg mr_msg = { .type = MSG_DONE },
		  done_msg = { .type = MSG_DONE };

static struct ibv_wc complete(void *request, enum ibv_wc_opcode opcode)
{
	return (struct ibv_wc){
		.wr_id = (uintptr_t)request,
		.opcode = opcode,
		.byte_len = MSG_SIZE,
	};
}

/* ibv_poll_cq(): one after the other, and no more than were promised. */
static int play(struct ibv_cq *played, int entries, struct ibv_wc *wc)
{
	char *messages = data.messages.buf;

	(void)played;
	(void)entries;
	switch (*next) {
	case MR_SENT:
		*wc = complete(messages, IBV_WC_SEND);
		break;
	case RDMA_DONE:
		*wc = complete(data.local.buf, IBV_WC_RDMA_WRITE);
		break;
	case DONE_SENT:
		*wc = complete(data_message(&data, SLOT_SEND_DONE),
			       IBV_WC_SEND);
		break;
	case BELOW:
		*wc = complete(messages - MSG_SIZE, IBV_WC_SEND);
		break;
	case BEYOND:
		*wc = complete(messages + SLOT_COUNT * MSG_SIZE, IBV_WC_RECV);
		break;
	case MR:
	case DONE:
		*wc = complete(data_message(&data, SLOT_RECV), IBV_WC_RECV);
		msg_encode(*next == MR ? &mr_msg : &done_msg,
			   data_message(&data, SLOT_RECV));
		break;
	default:
		fail_msg("more is waited for than will come");
	}
	next++;
	return 1;
}

static int setup(void **state)
{
	(void)state;
	reset();
	context.ops.poll_cq = play;
	conn.patience.timeout_ms = 1000;
	conn.pending = 100;
	conn.peer.mem = (struct remote){ 0x10000, 0x77, SIZE };
	return data_open(&data, &conn, MODE_WRITE, SIZE);
}

static int teardown(void **state)
{
	(void)state;
	/* Nothing is to be drained here. */
	conn.pending = 0;
	data_close(&data);
	return dev.gone == dev.registered ? 0 : -1;
}

static int run(const enum step *steps, bool first)
{
	struct transfer transfer = { .data = &data, .mode = MODE_WRITE };

	next = steps;
	dev.posted = 0;
	(void)first;
	return CAPTURED(transfer_run(&transfer));
}

static const enum step orders[][4] = {
	{ DONE, RDMA_DONE, DONE_SENT, END },
	{ RDMA_DONE, DONE, DONE_SENT, END },
	{ RDMA_DONE, DONE_SENT, DONE, END },
};
static const enum step twice[] = { DONE, DONE, END };
#define TOLD "the peer's MSG_DONE is not legal in SS_INIT and RS_DONE_RECV"
#define POSTED 2

/* Each request is posted once, whatever comes first. */
TEST_AROUND(orders, setup, teardown)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		assert_int_equal(run(orders[i], true), 0);
		assert_string_equal(said.err, "");
		assert_int_equal(*next, END);
		assert_int_equal(dev.posted, POSTED);
	}
}

TEST_AROUND(twice, setup, teardown)
{
	assert_int_equal(run(twice, false), -1);
	assert_one_line(said.err, "error: protocol error: " TOLD);
}

/* What was posted on another connection is none of ours. */
TEST_AROUND(stranger, setup, teardown)
{
	static const enum step below[] = { BELOW, END };
	static const enum step beyond[] = { BEYOND, END };

	assert_int_equal(run(below, false), -1);
	assert_one_line(said.err, "a completion with opcode 0, which nothing");
	assert_int_equal(run(beyond, false), -1);
	assert_one_line(said.err,
			"a completion with opcode 128, which nothing");
}

TEST_AROUND(names, setup, teardown)
{
	assert_string_equal(story_request(&data, (uintptr_t)data.local.buf),
			    "RDMA operation");
	assert_string_equal(
		story_request(&data, (uintptr_t)data_message(&data, SLOT_RECV)),
		"receive");
	assert_string_equal(
		story_request(&data,
			      (uintptr_t)data_message(&data, SLOT_SEND_DONE)),
		"send of MSG_DONE");
	/* Who waits in vain says for what. */
	assert_string_equal(
		story_awaited(&(struct states){ SS_INIT, RS_DONE_RECV }),
		"the completion of our RDMA operation");
	assert_string_equal(
		story_awaited(&(struct states){ SS_RDMA_SENT, RS_DONE_RECV }),
		"the completion of our MSG_DONE");
	assert_non_null(
		strstr(story_awaited(&(struct states){ SS_DONE_SENT, RS_INIT }),
		       "the peer's MSG_DONE"));
	/* The peer is told of the memory that it may use, and of no other. */
	assert_true(conn.mine.mem.addr == (uintptr_t)data.exposed.buf);
	assert_int_equal(conn.mine.mem.rkey, data.exposed.mr->rkey);
	assert_int_equal(conn.mine.mem.length, SIZE);
}
