/*
 * test_03_transfer.c - what a peer is told, and in which order its part may come
 *
 * The completions are played: see play().
 */
#include "transfer.h"

#include "test.h"
#include "fake_memory.h"

#include "story.h"

#define SIZE 1024

/* What comes next: a request of ours is complete, or the peer's message is here. */
enum step {
	END,
	RDMA_DONE,
	DONE_SENT,
	DONE, /* the peer's */
	BELOW, /* these two are of another connection */
	BEYOND
};

static const enum step *next;

static struct ibv_wc sent_from(int slot)
{
	return (struct ibv_wc){
		.wr_id = (uintptr_t)data_message(&data, slot),
		.opcode = IBV_WC_SEND,
	};
}

static struct ibv_wc received(void)
{
	const struct msg msg = { .type = MSG_DONE };
	struct ibv_wc wc = sent_from(SLOT_RECV);

	wc.opcode = IBV_WC_RECV;
	wc.byte_len = MSG_SIZE;
	msg_encode(&msg, data_message(&data, SLOT_RECV));
	return wc;
}

/* ibv_poll_cq(): one after the other, and no more than were promised. */
static int play(struct ibv_cq *played, int entries, struct ibv_wc *wc)
{
	(void)played;
	(void)entries;
	switch (*next) {
	case END:
		fail_msg("more is waited for than will come");
		break;
	case RDMA_DONE:
		*wc = (struct ibv_wc){ .wr_id = (uintptr_t)data.local.buf,
				       .opcode = IBV_WC_RDMA_WRITE };
		break;
	case DONE_SENT:
		*wc = sent_from(SLOT_SEND_DONE);
		break;
	case DONE:
		*wc = received();
		break;
	case BELOW:
		*wc = sent_from(-1);
		break;
	case BEYOND:
		*wc = sent_from(SLOT_COUNT);
		wc->opcode = IBV_WC_RECV;
		break;
	}
	next++;
	return 1;
}

/* Both have exchanged their parameters, and connected. */
static void connected(void)
{
	reset();
	context.ops.poll_cq = play;
	conn.peer.mem = (struct remote){ 0x10000, 0x77, SIZE };
	conn.patience.timeout_ms = 1000;
	conn.pending = 100;
	assert_int_equal(data_open(&data, &conn, MODE_WRITE, SIZE), 0);
}

static int run(const enum step *steps)
{
	struct transfer transfer = { .data = &data, .mode = MODE_WRITE };

	connected();
	next = steps;
	return CAPTURED(transfer_run(&transfer));
}

static void close_all(void)
{
	data_close(&data);
	assert_int_equal(gone, count);
}

/* What the peer is told of our memory is what it may use, and nothing else. */
TEST(offer)
{
	connected();
	assert_int_equal(conn.mine.mode, MODE_WRITE);
	assert_true(conn.mine.mem.addr == (uintptr_t)data.exposed.buf);
	assert_int_equal(conn.mine.mem.rkey, data.exposed.mr->rkey);
	assert_int_equal(conn.mine.mem.length, SIZE);
	close_all();
}

/* Its MSG_DONE may be here before, between and after what we do. */
TEST(orders)
{
	static const struct {
		enum step steps[4];
		const char *at;
	} orders[] = {
		{ { DONE, RDMA_DONE, DONE_SENT, END },
		  "opcode=128, send_state=0, recv_state=0" },
		{ { RDMA_DONE, DONE, DONE_SENT, END },
		  "opcode=128, send_state=1, recv_state=0" },
		{ { RDMA_DONE, DONE_SENT, DONE, END },
		  "opcode=128, send_state=2, recv_state=0" },
	};

	for (int i = 0; i < 3; i++) {
		assert_int_equal(run(orders[i].steps), 0);
		assert_string_equal(said.err, "");
		assert_int_equal(*next, END);
		/* The write, and MSG_DONE. */
		assert_int_equal(posted, 2);
		assert_non_null(strstr(said.out, orders[i].at));
		close_all();
	}
}

/* It is done once. */
TEST(twice)
{
	static const enum step twice[] = { DONE, DONE, END };

	assert_int_equal(run(twice), -1);
	assert_one_line(said.err, "protocol error: the peer's MSG_DONE is not "
				  "legal in SS_INIT and RS_DONE_RECV");
	close_all();
}

/* What was posted on another connection is none of ours. */
TEST(stranger)
{
	static const enum step below[] = { BELOW, END };
	static const enum step beyond[] = { BEYOND, END };

	assert_int_equal(run(below), -1);
	assert_one_line(said.err, "a completion with opcode 0, which nothing");
	close_all();
	assert_int_equal(run(beyond), -1);
	assert_one_line(said.err,
			"a completion with opcode 128, which nothing");
	close_all();
}

TEST(names)
{
	static const char *const names[] = {
		[SLOT_SEND_DONE] = "send of MSG_DONE",
		[SLOT_RECV] = "receive",
	};

	connected();
	for (int i = 0; i < SLOT_COUNT; i++)
		assert_string_equal(
			story_request(&data, (uintptr_t)data_message(&data, i)),
			names[i]);
	assert_string_equal(story_request(&data, (uintptr_t)data.local.buf),
			    "RDMA operation");
	close_all();
}

/* Who waits in vain says for what. */
TEST(awaited)
{
	struct states states = { SS_INIT, RS_DONE_RECV };

	assert_string_equal(story_awaited(&states),
			    "the completion of our RDMA operation");
	states.send = SS_RDMA_SENT;
	assert_string_equal(story_awaited(&states),
			    "the completion of our MSG_DONE");
	states = (struct states){ SS_DONE_SENT, RS_INIT };
	assert_non_null(strstr(story_awaited(&states), "the peer's MSG_DONE"));
	assert_non_null(strstr(story_awaited(&states), "no proof"));
}
