/*
 * test_probe.c - what a completion, and what a goodbye, says of a message
 */
#include "probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture.h"

static char messages[SLOT_COUNT * MSG_SIZE];
static struct conn conn;
static struct data data = { .conn = &conn, .messages = { .buf = messages } };
static struct captured said;

static bool arrived(int slot, enum ibv_wc_status status)
{
	struct ibv_wc wc = {
		.wr_id = (uintptr_t)data_message(&data, slot),
		.status = status,
	};
	bool ret;

	capture_start();
	ret = probe_arrived(&data, &wc);
	capture_stop(&said);
	assert_string_equal(said.err, "");
	return ret;
}

static void test_success(void **state)
{
	(void)state;
	assert_true(arrived(SLOT_SEND_ECHO, IBV_WC_SUCCESS));
	assert_true(arrived(SLOT_SEND_DONE, IBV_WC_SUCCESS));
	assert_string_equal(said.out, "");
}

/* Only who has said goodbye has MSG_DONE for sure; and that only. */
static void test_goodbye(void **state)
{
	(void)state;
	conn.peer_left = true;
	assert_false(arrived(SLOT_SEND_DONE, IBV_WC_WR_FLUSH_ERR));
	assert_false(arrived(SLOT_SEND_DONE, IBV_WC_RETRY_EXC_ERR));
	conn.peer_done = true;
	assert_true(arrived(SLOT_SEND_DONE, IBV_WC_WR_FLUSH_ERR));
	assert_one_line(said.out, "goodbye says that it has come");
	assert_true(arrived(SLOT_SEND_DONE, IBV_WC_RETRY_EXC_ERR));
	assert_false(arrived(SLOT_SEND_ECHO, IBV_WC_WR_FLUSH_ERR));
	assert_false(arrived(SLOT_SEND_NONCE, IBV_WC_WR_FLUSH_ERR));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_success),
		cmocka_unit_test(test_goodbye),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
