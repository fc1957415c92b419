/*
 * test_06_answer.c - the server of chapter 06, and what it is sent
 */
#include "rds_kernel.h"

#include "ipv4.h"
#include "answer.h"

#define CLIENT "192.0.2.2", 5000

static struct answer answer;
static struct patience patience;
static struct sockaddr_in client;

static int setup(void **state)
{
	struct sockaddr_in here = someone("192.0.2.1", 4000);

	(void)state;
	kernel_reset();
	client = someone(CLIENT);
	patience = (struct patience){ .timeout_ms = 200, .stop_fd = -1 };
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
	return CAPTURED(next(&answer));
}

TEST_AROUND(nonsense, setup, teardown)
{
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

TEST_AROUND(nonsense_on_the_control_port, setup, teardown)
{
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

TEST_AROUND(long_text, setup, teardown)
{
	struct incoming *in =
		kernel_datagram("192.0.2.2", 5000, DGRAM_TEXT, "");

	memset(in->bytes + DGRAM_HEADER, 1, DGRAM_TEXT_MAX + 1);
	in->length = DGRAM_HEADER + DGRAM_TEXT_MAX + 1;
	assert_int_equal(captured(answer_next), 0);
	assert_string_equal(said.out, "");
	assert_one_line(said.err, "1025 bytes of text");
}

TEST_AROUND(too_long, setup, teardown)
{
	kernel_datagram(CLIENT, DGRAM_TEXT, "hello")->truncated = true;
	assert_int_equal(captured(answer_next), 0);
	assert_one_line(said.err, "a datagram of more than 1048576 bytes");
	assert_int_equal(kernel.sent, 0);
}

TEST_AROUND(ended_numbers, setup, teardown)
{
	for (int i = 0; i < 2; i++) {
		kernel_datagram(CLIENT, DGRAM_NUMBERED, "");
		kernel_datagram(CLIENT, DGRAM_BYE, "");
		kernel_datagram(CLIENT, DGRAM_TOTAL, "");
		for (int j = 0; j < 3; j++)
			assert_int_equal(captured(answer_next), 0);
		assert_string_equal(said.out,
				    "received: no numbered messages.\n");
	}
}

/* A client asks for a loan; what the server makes of it. */
static int borrow(void)
{
	kernel_datagram(CLIENT, DGRAM_BORROW, "");
	return captured(answer_next);
}

/*
 * There is room in the send buffer, and memory cannot be lent: each turn of a
 * loop that waits for room would be one more call, and they never end.
 */
static void assert_waits_for_connection(int refusal)
{
	kernel.no_connection = refusal;
	kernel.pongs = true;
	patience.timeout_ms = 20000;
	assert_int_equal(borrow(), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(kernel.sent, 1);
	assert_true(ipv4_same(&kernel.sent_to, &client));
	/* The loan, the question, the loan. */
	assert_int_equal(kernel.calls, 3);
	assert_int_equal(kernel.pong_from.sin_addr.s_addr,
			 kernel.sent_to.sin_addr.s_addr);
}

TEST_AROUND(no_connection_yet, setup, teardown)
{
	assert_waits_for_connection(EAGAIN);
}

TEST_AROUND(connection_being_made, setup, teardown)
{
	assert_waits_for_connection(EINVAL);
}

/* Whoever knows the port may write there; only that host's kernel counts. */
TEST_AROUND(stranger_is_no_connection, setup, teardown)
{
	kernel.strangers = 2;
	assert_waits_for_connection(EAGAIN);
	assert_int_equal(kernel.strangers, 0);
}

TEST_AROUND(no_connection_ever, setup, teardown)
{
	kernel.no_connection = EAGAIN;
	assert_int_equal(borrow(), 0);
	assert_non_null(strstr(said.err, "a connection to 192.0.2.2 over ib: "
					 "nothing came within 0.2 s"));
	assert_non_null(strstr(said.out, "is cancelled"));
	assert_int_equal(kernel.calls, 2);
	/* Nothing is lent then. */
	assert_null(lend_find(&answer.lend, &client));
}

TEST_AROUND(stop_without_connection, setup, teardown)
{
	static const uint64_t one = 1;

	kernel.no_connection = EAGAIN;
	patience.timeout_ms = 20000;
	patience.stop_fd = eventfd(0, EFD_NONBLOCK);
	assert_int_equal(write(patience.stop_fd, &one, sizeof(one)),
			 sizeof(one));
	alarm(10);
	assert_int_equal(borrow(), 0);
	alarm(0);
	close(patience.stop_fd);
	assert_one_line(said.err, "given up, since this program was asked");
}

/* Other errors are final, and so is EINVAL where nothing is lent. */
TEST_AROUND(errors_are_final, setup, teardown)
{
	static const int errors[] = { EOPNOTSUPP, ENOTCONN, EPERM };

	for (size_t i = 0; i < 3; i++) {
		kernel.calls = 0;
		kernel.no_connection = errors[i];
		assert_int_equal(borrow(), 0);
		assert_one_line(said.err, "sendmsg: 24 bytes to 192.0.2.2");
		assert_int_equal(kernel.calls, 1);
	}
	kernel.calls = 0;
	kernel.refused_port = 5000;
	kernel.refusal = EINVAL;
	kernel_datagram(CLIENT, DGRAM_TEXT, "hello");
	assert_int_equal(captured(answer_next), 0);
	assert_one_line(said.err, "Invalid argument");
	assert_int_equal(kernel.calls, 1);
}

/* There is always room, and never enough: the deadline ends it. */
TEST_AROUND(no_room, setup, teardown)
{
	kernel.refused_port = 5000;
	kernel.refusal = EAGAIN;
	kernel_datagram(CLIENT, DGRAM_TEXT, "hello");
	alarm(30);
	assert_int_equal(captured(answer_next), 0);
	alarm(0);
	assert_non_null(strstr(said.err, "room in the send buffer: nothing "
					 "came"));
}

TEST_AROUND(written, setup, teardown)
{
	struct loan *loan;

	assert_int_equal(borrow(), 0);
	loan = lend_find(&answer.lend, &client);
	assert_non_null(loan);
	strcpy(loan->memory, "from afar");
	/* Who has no memory of ours has not written. */
	kernel_datagram("192.0.2.2", 5001, DGRAM_WRITTEN, "");
	assert_int_equal(captured(answer_next), 0);
	assert_one_line(said.err, "has no memory of ours");
	assert_string_equal(said.out, "");
	kernel_datagram(CLIENT, DGRAM_WRITTEN, "");
	assert_int_equal(captured(answer_next), 0);
	assert_string_equal(said.out, "the memory that was lent: from afar\n");
	/* And that was that. */
	kernel_datagram(CLIENT, DGRAM_WRITTEN, "");
	assert_int_equal(captured(answer_next), 0);
	assert_one_line(said.err, "has no memory of ours");
}

TEST_AROUND(bye_ends_a_loan, setup, teardown)
{
	assert_int_equal(borrow(), 0);
	kernel_datagram(CLIENT, DGRAM_BYE, "");
	assert_int_equal(captured(answer_next), 0);
	assert_int_equal(kernel.freed[0], 1);
	assert_int_equal(lend_deadline(&answer.lend), INT64_MAX);
}
