/*
 * test_06_work.c - what chapter 06's client does, where a network is no help
 */
#include "rds_session.h"

#include <signal.h>

#include "work.h"

TEST_AROUND(key, setup, teardown)
{
	open_session(2);
	kernel_key(kernel_datagram(STRANGER, DGRAM_LENT, ""), 0xbad);
	kernel_key(kernel_datagram("192.0.2.1", 4001, DGRAM_LENT, ""), 0xbad);
	kernel_key(kernel_datagram("192.0.2.1", 4000, DGRAM_LENT, ""), 0x777);
	assert_int_equal(captured(work_write), -1);
	assert_non_null(strstr(said.out, "borrowed: rkey=0x777, offset 0.\n"));
	assert_non_null(strstr(said.err, "198.51.100.7 port 4000"));
	assert_non_null(strstr(said.err, "the completion of the write: "));
}

/* What comes after a function uses the stack where its variables were. */
static void __attribute__((noinline)) use_stack(void)
{
	volatile char bytes[16384];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0x55;
}

TEST_AROUND(memory_stays, setup, teardown)
{
	static const char text[] = "written from active/client side";

	open_session(1);
	options.key = 0x777;
	/* Nobody says that the write is done, so it may still go on. */
	assert_int_equal(captured(work_write), -1);
	use_stack();
	assert_memory_equal(kernel.source, text, strlen(text));
}

/* What is done is told by its token. */
TEST_AROUND(completion, setup, teardown)
{
	open_session(1);
	options.key = 0x777;
	kernel_completion(7, RDS_RDMA_REMOTE_ERROR);
	kernel_completion(6, RDS_RDMA_SUCCESS);
	assert_int_equal(captured(work_write), 0);
	assert_non_null(strstr(said.out, "write completed: status=0"));
	kernel_completion(6, RDS_RDMA_DROPPED);
	assert_int_equal(captured(work_write), -1);
	assert_one_line(said.err, "RDMA write: status 3 (dropped");
}

/* A server that lends and gives no key has lent nothing. */
TEST_AROUND(no_key, setup, teardown)
{
	open_session(1);
	kernel_datagram("192.0.2.1", 4000, DGRAM_LENT, "");
	assert_int_equal(captured(work_write), -1);
	assert_one_line(said.err, "lends memory but gives no key");
}

/* What comes back must be what was sent, and all of it. */
TEST_AROUND(echo, setup, teardown)
{
	open_session(1);
	kernel_datagram("192.0.2.1", 4000, DGRAM_ECHO, "too short");
	assert_int_equal(captured(work_bench), -1);
	assert_one_line(said.err, "an echo of 21 bytes for 64");
}

TEST_AROUND(group, setup, teardown)
{
	open_session(1);
	kernel.refused_port = 4000;
	kernel.refused_from = 3;
	kernel.refusal = ENOBUFS;
	kernel_ports(RDS_CONG_MONITOR_MASK(4001));
	/* Port 4000 is of group 32; 5 and 40 have room as well. */
	kernel_ports(RDS_CONG_MONITOR_MASK(5) | RDS_CONG_MONITOR_MASK(4000) |
		     RDS_CONG_MONITOR_MASK(40));
	assert_int_equal(captured(work_congest), -1);
	assert_non_null(strstr(said.out, "ENOBUFS for port 4000 after 3"));
	assert_non_null(strstr(said.out, "news: group 32 of the ports"));
}

TEST_AROUND(other_group, setup, teardown)
{
	open_session(1);
	kernel.refused_port = 4000;
	kernel.refused_from = 3;
	kernel.refusal = ENOBUFS;
	kernel_ports(~RDS_CONG_MONITOR_MASK(4000));
	assert_int_equal(captured(work_congest), -1);
	assert_one_line(said.err, "the end of the congestion: nothing came");
	assert_null(strstr(said.out, "news:"));
}

TEST_AROUND(no_port_after_it, setup, teardown)
{
	open_session(1);
	session.peers[0].sin_port = htons(65535);
	assert_int_equal(captured(work_congest), -1);
	assert_one_line(said.err, "65534");
	assert_int_equal(kernel.sent, 0);
}

/* Runs count with this command. */
static int run_command(const char *command, int timeout_ms)
{
	open_session(1);
	patience.timeout_ms = timeout_ms;
	options.command = command;
	kernel_datagram("192.0.2.1", 4000, DGRAM_TOTAL, "the total");
	return captured(work_count);
}

TEST_AROUND(command_ends, setup, teardown)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &signals, NULL), 0);
	/* As the client has it; there, it must not be blocked. */
	assert_int_equal(run_command("exec grep -q '^SigBlk:.0*$' "
				     "/proc/self/status",
				     20000),
			 -1);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &signals, NULL), 0);
	assert_one_line(said.err, "the connection was not reset");
	assert_non_null(strstr(said.out, "half is sent; running: exec grep"));
	session_close(&session);
	kernel_reset();
	assert_int_equal(run_command("exit 3", 2000), -1);
	assert_one_line(said.err, "failed, with status 3");
}

TEST_AROUND(command_is_killed, setup, teardown)
{
	assert_int_equal(run_command("kill -9 $$", 20000), -1);
	assert_one_line(said.err, "was ended by signal 9 (Killed)");
	session_close(&session);
	kernel_reset();
	/* With that, a shell says that its own child had such an end. */
	assert_int_equal(run_command("exit 143", 20000), -1);
	assert_one_line(said.err, "failed, with status 143");
}

/* With a peer that takes everything, no send ever waits. */
static void assert_stops(int (*work)(struct session *session))
{
	static const uint64_t one = 1;

	session_close(&session);
	kernel_reset();
	open_session(1);
	options.count = 10000000;
	assert_int_equal(write(stop_fd, &one, sizeof(one)), sizeof(one));
	assert_int_equal(captured(work), -1);
	assert_one_line(said.err, "sending: given up, since this program was");
	assert_true(kernel.sent < 100);
}

TEST_AROUND(stop_ends_sending, setup, teardown)
{
	assert_stops(work_count);
	assert_stops(work_congest);
	assert_stops(work_fill);
}

/*
 * A command that would take a day, and what it has started: each of them has
 * the pipe open as long as it lives.
 */
static void assert_killed(const char *part)
{
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	alarm(60);
	assert_int_equal(run_command("sleep 86400 & sleep 86400; exit 0", 200),
			 -1);
	close(fds[1]);
	/* The end of what is read from it is theirs. */
	assert_int_equal(read(fds[0], &byte, 1), 0);
	alarm(0);
	close(fds[0]);
	assert_one_line(said.err, part);
}

TEST_AROUND(command_takes_long, setup, teardown)
{
	assert_killed("has not ended within 0.2 s after the last message");
}

TEST_AROUND(stop_ends_command, setup, teardown)
{
	static const uint64_t one = 1;

	assert_int_equal(write(stop_fd, &one, sizeof(one)), sizeof(one));
	assert_killed("the end of the command of -x: given up");
}
