/*
 * test_pump_wait.c - how the benchmark's loop waits and fails
 */
#include "pump_device.h"

#include <pty.h>

#define S 1000000000ULL

TEST(failed_completion)
{
	reset();
	fake.fails_at = 70;
	assert_int_equal(run(64, 160, NULL), -1);
	assert_one_line(said.err, "error: RDMA operation: status 10 (");
}

TEST(failed_post)
{
	reset();
	fake.refuses_at = 20;
	assert_int_equal(run(64, 160, NULL), -1);
	assert_one_line(said.err, "error: ibv_post_send: ");
}

/* Its wr_id is no number of operations. */
TEST(message)
{
	reset();
	fake.message_at = 3;
	assert_int_equal(run(1, 100, NULL), -1);
	assert_one_line(said.err, "error: protocol error: a message in the "
				  "middle of a benchmark");
}

TEST(broken_cq)
{
	reset();
	fake.broken = true;
	assert_int_equal(run(64, 160, NULL), -1);
	assert_one_line(said.err, "error: ibv_poll_cq: ");
}

/* Nothing completes, and the clock is rarely looked at. */
TEST(deadline)
{
	reset();
	fake.ready = 0;
	clock_step = S * 3 / 10;
	assert_int_equal(run(64, 160, NULL), -1);
	assert_one_line(said.err, "a completion: nothing came within 1 s");
	assert_true(clock_ns <= S * 2);
	assert_true(fake.polls > 4 * 1000);
}

/* Signs of life take no more of the queue than is left for them. */
TEST(beats)
{
	reset();
	data.messages = (struct region){ .buf = memory, .mr = &mr };
	pump.beat = 1;
	pump.beats_max = 3;
	fake.ready = 0;
	conn.patience.timeout_ms = 60000;
	clock_step = S / 10;
	assert_int_equal(run(4, 160, NULL), -1);
	assert_one_line(said.err, "a completion: nothing came within 60 s");
	assert_int_equal(fake.posted, 4 + 3);
	/* Those that are done make room for others. */
	fake.taken = fake.posted;
	fake.ready = 100;
	clock_step = S;
	assert_int_equal(run(1, 1024, NULL), 0);
	assert_int_equal(fake.posted, 4 + 3 + 1024 + 4);
	conn.patience.timeout_ms = 1000;
}

TEST(peer_leaves)
{
	char c;

	reset();
	fake.ready = 0;
	assert_int_equal(write(peer_fds[1], "", 1), 1);
	assert_int_equal(run(64, 160, NULL), -1);
	assert_one_line(said.err, "the peer has left");
	assert_int_equal(read(peer_fds[0], &c, 1), 1);
}

/* Reads from a terminal until "end". */
static void read_text(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t n;

	do {
		n = read(fd, text + length, size - 1 - length);
		assert_true(n > 0);
		length += n;
		text[length] = 0;
	} while (!strstr(text, "end"));
}

/* What a terminal shows of 1024 operations if the clock goes in such steps. */
static const char *progress(uint64_t step)
{
	static char text[4096];
	int master, slave, ret, saved = dup(STDERR_FILENO);

	reset();
	clock_step = step;
	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	assert_int_equal(dup2(slave, STDERR_FILENO), STDERR_FILENO);
	ret = pump_run(&pump, 1, 1024, NULL);
	fputs("end", stderr);
	assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(ret, 0);
	read_text(master, text, sizeof(text));
	assert_int_equal(close(master) | close(slave) | close(saved), 0);
	return text;
}

/* The loop looks at the clock once before and then every 256 operations. */
TEST(progress)
{
	assert_string_equal(progress(S / 10), "end");
	assert_string_equal(progress(S), " 50 %\r 75 %\r100 %\r     \rend");
	assert_string_equal(progress(S / 5 * 3), "100 %\r     \rend");
}

/* A file gets none of it, however long it takes. */
TEST(no_progress)
{
	reset();
	clock_step = S;
	assert_int_equal(run(1, 1024, NULL), 0);
	assert_string_equal(said.err, "");
}

AROUND_ALL(open_peer, close_peer)
