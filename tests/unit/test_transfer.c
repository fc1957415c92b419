/*
 * test_transfer.c - from completions to what is posted, in both races
 *
 * The completions are played: see play().
 */
#include "transfer.h"

#include "test.h"
#include "fake_memory.h"

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
	BELOW,
	BEYOND
};

static const enum step *next;
static uint32_t peer_size; /* bytes of memory that the peer speaks of */
static enum mode peer_mode;

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
	struct msg mr = { .type = MSG_MR,
			  .mode = peer_mode,
			  .mem = { 0x10000, 0x77, peer_size } };
	struct msg done = { .type = MSG_DONE };
	void *receive = data_message(&data, SLOT_RECV);

	(void)played;
	(void)entries;
	switch (*next) {
	case MR_SENT:
		*wc = complete(data_message(&data, SLOT_SEND_FIRST),
			       IBV_WC_SEND);
		break;
	case RDMA_DONE:
		*wc = complete(data.local.buf, IBV_WC_RDMA_WRITE);
		break;
	case DONE_SENT:
		*wc = complete(data_message(&data, SLOT_SEND_DONE),
			       IBV_WC_SEND);
		break;
	case BELOW:
	case BEYOND:
		*wc = complete(data.messages.buf +
				       (*next == BELOW ? -MSG_SIZE :
							 SLOT_COUNT * MSG_SIZE),
			       *next == BELOW ? IBV_WC_SEND : IBV_WC_RECV);
		break;
	case MR:
	case DONE:
		msg_encode(*next == MR ? &mr : &done, receive);
		*wc = complete(receive, IBV_WC_RECV);
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
	peer_size = SIZE;
	peer_mode = MODE_WRITE;
	context.ops.poll_cq = play;
	conn.patience.timeout_ms = 1000;
	conn.pending = 100;
	return data_open(&data, &conn, MODE_WRITE, SIZE);
}

static int teardown(void **state)
{
	(void)state;
	/* Nothing is to be drained here. */
	conn.pending = 0;
	data_close(&data);
	return gone == count ? 0 : -1;
}

static int run(const enum step *steps, bool first)
{
	struct transfer transfer = { .data = &data, .mode = MODE_WRITE };

	next = steps;
	return CAPTURED(transfer_run(&transfer, first));
}

/* In each order, three requests are posted: MSG_MR, the write, MSG_DONE. */
static void assert_runs(const enum step *steps, bool first)
{
	posted = 0;
	assert_int_equal(run(steps, first), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(*next, END);
	assert_int_equal(posted, 3);
}

TEST_AROUND(orders, setup, teardown)
{
	static const enum step ours[] = { MR_SENT,   MR,   RDMA_DONE,
					  DONE_SENT, DONE, END };
	static const enum step theirs[] = { MR,	       MR_SENT,	  DONE,
					    RDMA_DONE, DONE_SENT, END };

	assert_runs(ours, true);
	/* Both have sent theirs: ours is no answer, and is posted once. */
	assert_runs(theirs, true);
	assert_runs(theirs, false);
}

/* Nothing is written before it is known that the peer runs the same. */
TEST_AROUND(differs, setup, teardown)
{
	static const enum step steps[] = { MR_SENT, MR, END };

	peer_mode = MODE_READ;
	assert_int_equal(run(steps, true), -1);
	assert_one_line(said.err, "this side runs write and the peer read");
	assert_int_equal(posted, 1);
	peer_mode = MODE_WRITE;
	peer_size = SIZE - 1;
	assert_int_equal(run(steps, true), -1);
	assert_one_line(said.err, "the peer 1023; start both with the same -b");
	assert_int_equal(posted, 2);
}

TEST_AROUND(illegal, setup, teardown)
{
	static const enum step steps[] = { MR, MR, END };

	assert_int_equal(run(steps, false), -1);
	assert_string_equal(said.err,
			    "error: protocol error: the peer's MSG_MR is not "
			    "legal in SS_INIT and RS_MR_RECV\n");
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
	assert_string_equal(said.out, "");
}

TEST_AROUND(names, setup, teardown)
{
	assert_string_equal(story_request(&data, (uintptr_t)data.local.buf),
			    "RDMA operation");
	for (int i = 0; i < SLOT_COUNT; i++)
		assert_string_equal(
			story_request(&data, (uintptr_t)data_message(&data, i)),
			i == SLOT_SEND_FIRST ? "send of MSG_MR" :
			i == SLOT_SEND_DONE  ? "send of MSG_DONE" :
					       "receive");
}
