/*
 * test_06_answer.c - the server of chapter 06, and what it is sent
 */
#include "rds_kernel.h"

#include "answer.h"

static struct answer answer;
static const struct patience patience = { .timeout_ms = 200, .stop_fd = -1 };

static int setup(void **state)
{
	struct sockaddr_in here = someone("192.0.2.1", 4000);

	(void)state;
	kernel_reset();
	answer = (struct answer){ .rds.fd = -1, .control.fd = -1 };
	assert_int_equal(answer_open(&answer, false, &patience), 0);
	assert_int_equal(rds_open(&answer.rds, &here, RDS_TRANS_NONE), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	/* Both ports are the same queue here. */
	answer.control.fd = -1;
	answer_close(&answer);
	return 0;
}

static int captured(int (*next)(struct answer *answer))
{
	int ret;

	capture_start();
	ret = next(&answer);
	capture_stop(&said);
	return ret;
}

static void test_nonsense(void **state)
{
	(void)state;
	kernel_datagram("192.0.2.2", 5000, DGRAM_ANSWER, "");
	kernel_datagram("192.0.2.2", 5000, 0, NULL);
	assert_int_equal(captured(answer_next), 0);
	assert_one_line(said.err, "a client's business");
	assert_int_equal(captured(answer_next), 0);
	assert_one_line(said.err, "a datagram of 0 bytes");
	/* With -1, whatever comes first is the last. */
	answer.once = true;
	kernel_datagram("192.0.2.2", 5000, DGRAM_ANSWER, "");
	assert_int_equal(captured(answer_next), -1);
	assert_one_line(said.err, "a client's business");
	assert_int_equal(kernel.sent, 0);
}

static void test_nonsense_on_the_control_port(void **state)
{
	(void)state;
	answer.control.fd = answer.rds.fd;
	kernel_datagram("192.0.2.2", 5000, DGRAM_TEXT, "hello");
	kernel_datagram("192.0.2.2", 5000, 0, NULL);
	kernel_datagram("192.0.2.2", 5000, DGRAM_READ_ON, "");
	assert_int_equal(captured(answer_control), 0);
	assert_one_line(said.err, "on the control port");
	assert_int_equal(captured(answer_control), 0);
	assert_one_line(said.err, "a datagram of 0 bytes");
	assert_int_equal(captured(answer_control), ANSWER_READ_ON);
	assert_string_equal(said.out, "told to read on.\n");
	answer.once = true;
	kernel_datagram("192.0.2.2", 5000, DGRAM_TEXT, "hello");
	assert_int_equal(captured(answer_control), -1);
}

static void test_long_text(void **state)
{
	struct incoming *in =
		kernel_datagram("192.0.2.2", 5000, DGRAM_TEXT, "");

	(void)state;
	memset(in->bytes + DGRAM_HEADER, 1, DGRAM_TEXT_MAX + 1);
	in->length = DGRAM_HEADER + DGRAM_TEXT_MAX + 1;
	assert_int_equal(captured(answer_next), 0);
	assert_string_equal(said.out, "");
	assert_one_line(said.err, "1025 bytes of text");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_nonsense),
		TEST(test_nonsense_on_the_control_port),
		TEST(test_long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
