/*
 * test_06_session.c - the client of chapter 06, and those whom it did not ask
 *
 * RDS knows no connections: whoever reaches a host can send to any port.
 */
#include "rds_session.h"

#include <signal.h>

#include "work.h"

static void assert_told(const char *who)
{
	assert_one_line(said.err, who);
	assert_one_line(said.err, "has sent something unasked");
}

TEST_AROUND(talk, setup, teardown)
{
	open_session(1);
	patience.timeout_ms = 20000;
	kernel_datagram(STRANGER, DGRAM_ANSWER, "lies");
	/* The right host, another socket of it. */
	kernel_datagram("192.0.2.1", 4999, DGRAM_ANSWER, "lies");
	/* It need not even be one of ours. */
	kernel_datagram(STRANGER, 0, NULL);
	kernel_datagram("192.0.2.1", 4000, DGRAM_ANSWER, "the truth");
	assert_int_equal(captured(work_talk), 0);
	assert_non_null(strstr(said.out, "received message: the truth\n"));
	assert_null(strstr(said.out, "lies"));
	/* Told once, however many they send. */
	assert_told("an answer: 198.51.100.7 port 4000");
}

TEST_AROUND(one_is_not_two, setup, teardown)
{
	open_session(2);
	kernel_datagram("192.0.2.1", 4000, DGRAM_ANSWER, "first");
	kernel_datagram("192.0.2.1", 4000, DGRAM_ANSWER, "twice");
	kernel_datagram("192.0.2.1", 4001, DGRAM_ANSWER, "second");
	assert_int_equal(captured(work_talk), 0);
	assert_null(strstr(said.out, "twice"));
	assert_int_equal(times(said.out, "received message: "), 2);
	assert_told("192.0.2.1 port 4000");
}

TEST_AROUND(silence, setup, teardown)
{
	open_session(1);
	kernel_datagram(STRANGER, DGRAM_ANSWER, "lies");
	assert_int_equal(captured(work_talk), -1);
	assert_int_equal(times(said.err, "error: "), 2);
	assert_non_null(strstr(said.err, "nothing came within 0.2 s"));
}

static void end_flood(int number)
{
	(void)number;
	kernel.endless = false;
}

/* What is queued comes over and over; the work must end all the same. */
static void assert_ends(int (*work)(struct session *session))
{
	kernel.endless = true;
	signal(SIGALRM, end_flood);
	alarm(5);
	assert_int_equal(captured(work), -1);
	alarm(0);
	assert_true(kernel.endless);
}

TEST_AROUND(flood, setup, teardown)
{
	open_session(1);
	kernel_datagram(STRANGER, DGRAM_ANSWER, "lies");
	assert_ends(work_talk);
	assert_int_equal(times(said.err, "error: "), 2);
}

TEST_AROUND(greet, setup, teardown)
{
	open_session(1);
	patience.timeout_ms = 20000;
	kernel_datagram(STRANGER, 0, NULL);
	kernel_datagram("192.0.2.1", 4000, DGRAM_ANSWER, "early");
	kernel_datagram("192.0.2.1", 0, 0, NULL);
	assert_int_equal(captured(session_greet), 0);
	assert_string_equal(said.out, "192.0.2.1 is there.\n");
	assert_told("198.51.100.7 port 4000");
}

TEST_AROUND(bye, setup, teardown)
{
	open_session(2);
	kernel_datagram("192.0.2.1", 4000, DGRAM_BYE, "");
	kernel_datagram("192.0.2.1", 4000, DGRAM_BYE, "");
	kernel_datagram(STRANGER, DGRAM_BYE, "");
	/* One is missing. */
	assert_int_equal(captured(session_bye), -1);
	assert_non_null(strstr(said.err, "nothing came within"));
}

TEST_AROUND(same_server_twice, setup, teardown)
{
	open_session(2);
	session.peers[1] = session.peers[0];
	kernel_datagram("192.0.2.1", 4000, DGRAM_BYE, "");
	kernel_datagram("192.0.2.1", 4000, DGRAM_BYE, "");
	assert_int_equal(captured(session_bye), 0);
	assert_string_equal(said.err, "");
}

TEST_AROUND(total, setup, teardown)
{
	open_session(2);
	patience.timeout_ms = 20000;
	kernel_datagram("192.0.2.1", 4001, DGRAM_TOTAL, "not yet asked");
	kernel_datagram("192.0.2.1", 4000, DGRAM_TOTAL, "of 4000");
	kernel_datagram("192.0.2.1", 4001, DGRAM_TOTAL, "of 4001");
	assert_int_equal(captured(work_count), 0);
	assert_null(strstr(said.out, "not yet asked"));
	assert_non_null(strstr(said.out, "port 4000 has received:\n  of 4000"));
	assert_non_null(strstr(said.out, "port 4001 has received:\n  of 4001"));
}

TEST_AROUND(wrong_type, setup, teardown)
{
	open_session(1);
	kernel_datagram("192.0.2.1", 4000, DGRAM_BYE, "");
	assert_int_equal(captured(work_talk), -1);
	assert_one_line(said.err, "of type 10 came instead of 2");
}

/* The port is refused for congestion, however often it has room again. */
static int send_one(struct session *opened)
{
	return session_send(opened, &opened->peers[0], "x", 1, NULL);
}

TEST_AROUND(flutter, setup, teardown)
{
	open_session(1);
	kernel.refused_port = 4000;
	kernel.refusal = ENOBUFS;
	kernel_ports(RDS_CONG_MONITOR_MASK(4000));
	assert_ends(send_one);
	assert_one_line(said.err, "the end of a congestion: nothing came");
}

/* News of other ports is no reason to try again. */
TEST_AROUND(congested_others, setup, teardown)
{
	open_session(1);
	kernel.refused_port = 4000;
	kernel.refusal = ENOBUFS;
	kernel_ports(~RDS_CONG_MONITOR_MASK(4000));
	assert_int_equal(captured(send_one), -1);
	assert_one_line(said.err, "the end of a congestion: nothing came");
	assert_int_equal(kernel.calls, 1);
}

TEST_AROUND(congested_stranger, setup, teardown)
{
	open_session(1);
	kernel.refused_port = 4000;
	kernel.refusal = ENOBUFS;
	kernel_datagram(STRANGER, DGRAM_ANSWER, "lies");
	assert_int_equal(captured(send_one), -1);
	assert_int_equal(times(said.err, "error: "), 2);
	assert_non_null(strstr(said.err, "198.51.100.7 port 4000"));
	assert_non_null(strstr(said.err, "the end of a congestion: nothing"));
}
