/*
 * test_03_transfer.c - what a peer is told, and one that is done before we begin
 *
 * The completions are played: see play().
 */
#include "transfer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_memory.h"

#include "probe.h"
#include "story.h"

#define SIZE 1024

/* What comes next: the send from a slot is complete, or a message is here. */
enum step {
	END,
	NONCE_SENT,
	ECHO_SENT,
	RDMA_DONE,
	DONE_SENT,
	BELOW, /* these two are of another connection */
	BEYOND,
	NONCE, /* from here on: the peer's messages */
	ECHO,
	DONE
};

static const enum step *next;
static int slot; /* where the peer's next message goes */

static uint64_t our_nonce(void)
{
	struct msg msg;

	assert_int_equal(msg_decode(&msg, data_message(&data, SLOT_SEND_NONCE),
				    MSG_SIZE),
			 0);
	assert_int_equal(msg.type, MSG_NONCE);
	return msg.nonce;
}

static struct ibv_wc sent_from(int sent_slot)
{
	return (struct ibv_wc){
		.wr_id = (uintptr_t)data_message(&data, sent_slot),
		.opcode = IBV_WC_SEND,
	};
}

static struct ibv_wc received(enum step step)
{
	struct msg msg = { .type = step == NONCE ? MSG_NONCE :
				   step == ECHO	 ? MSG_ECHO :
						   MSG_DONE };
	struct ibv_wc wc = {
		.wr_id = (uintptr_t)data_message(&data, slot),
		.opcode = IBV_WC_RECV,
		.byte_len = MSG_SIZE,
	};

	if (step == ECHO)
		msg.nonce = our_nonce();
	msg_encode(&msg, data_message(&data, slot));
	/* As if each receive were posted again. */
	if (++slot == SLOT_COUNT)
		slot = SLOT_RECV;
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
	case NONCE_SENT:
		*wc = sent_from(SLOT_SEND_NONCE);
		break;
	case ECHO_SENT:
		*wc = sent_from(SLOT_SEND_ECHO);
		break;
	case DONE_SENT:
		*wc = sent_from(SLOT_SEND_DONE);
		break;
	case BELOW:
		*wc = sent_from(-1);
		break;
	case BEYOND:
		*wc = sent_from(SLOT_COUNT);
		wc->opcode = IBV_WC_RECV;
		break;
	case RDMA_DONE:
		*wc = (struct ibv_wc){ .wr_id = (uintptr_t)data.local.buf,
				       .opcode = IBV_WC_RDMA_WRITE };
		break;
	default:
		*wc = received(*next);
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
	slot = SLOT_RECV;
	assert_int_equal(data_open(&data, &conn, MODE_WRITE, SIZE), 0);
}

static int probe(const enum step *steps)
{
	int ret;

	connected();
	next = steps;
	capture_start();
	ret = probe_path(&data);
	capture_stop(&said);
	return ret;
}

static void close_all(void)
{
	data_close(&data);
	assert_int_equal(gone, count);
}

/* What the peer is told of our memory is what it may use, and nothing else. */
static void test_offer(void **state)
{
	(void)state;
	connected();
	assert_int_equal(conn.mine.mode, MODE_WRITE);
	assert_true(conn.mine.mem.addr == (uintptr_t)data.exposed.buf);
	assert_int_equal(conn.mine.mem.rkey, data.exposed.mr->rkey);
	assert_int_equal(conn.mine.mem.length, SIZE);
	close_all();
}

/* Its MSG_DONE is here while our echo is still on its way. */
static void test_early(void **state)
{
	static const enum step steps[] = { NONCE_SENT, NONCE,	  ECHO,
					   DONE,       ECHO_SENT, RDMA_DONE,
					   DONE_SENT,  END };
	struct transfer transfer = { .data = &data, .mode = MODE_WRITE };
	const char *early, *ours;
	int ret;

	(void)state;
	assert_int_equal(probe(steps), 0);
	assert_int_equal(*next, RDMA_DONE);
	assert_one_line(said.out, "echo: what is sent arrives");
	capture_start();
	ret = transfer_run(&transfer);
	capture_stop(&said);
	assert_int_equal(ret, 0);
	assert_string_equal(said.err, "");
	assert_int_equal(*next, END);
	/* Nonce, echo, the write, MSG_DONE. */
	assert_int_equal(posted, 4);
	early = strstr(said.out, "opcode=128, send_state=0, recv_state=0");
	ours = strstr(said.out, "opcode=1, send_state=0, recv_state=1");
	assert_true(early && ours && early < ours);
	close_all();
}

/* It is done once, and not before the probe is. */
static void test_too_early(void **state)
{
	static const enum step twice[] = { NONCE_SENT, NONCE, ECHO,
					   DONE,       DONE,  END };
	static const enum step first[] = { NONCE_SENT, DONE, END };

	(void)state;
	assert_int_equal(probe(twice), -1);
	assert_one_line(said.err, "message type 2 does not belong here");
	close_all();
	assert_int_equal(probe(first), -1);
	assert_one_line(said.err, "message type 2 does not belong here");
	close_all();
}

/* What was posted on another connection is none of ours. */
static void test_stranger(void **state)
{
	static const enum step below[] = { BELOW, END };
	static const enum step beyond[] = { BEYOND, END };

	(void)state;
	assert_int_equal(probe(below), -1);
	assert_one_line(said.err, "a completion with opcode 0, which nothing");
	close_all();
	assert_int_equal(probe(beyond), -1);
	assert_one_line(said.err,
			"a completion with opcode 128, which nothing");
	close_all();
}

static void test_names(void **state)
{
	static const char *const names[] = {
		[SLOT_SEND_NONCE] = "send of MSG_NONCE",
		[SLOT_SEND_ECHO] = "send of MSG_ECHO",
		[SLOT_SEND_DONE] = "send of MSG_DONE",
		[SLOT_RECV] = "receive",
		[SLOT_COUNT - 1] = "receive",
	};

	(void)state;
	connected();
	for (int i = 0; i < SLOT_COUNT; i++)
		if (names[i])
			assert_string_equal(
				story_request(&data, (uintptr_t)data_message(
							     &data, i)),
				names[i]);
	assert_string_equal(story_request(&data, (uintptr_t)data.local.buf),
			    "RDMA operation");
	close_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offer),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_too_early),
		cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
