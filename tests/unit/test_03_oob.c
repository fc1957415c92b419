/*
 * test_03_oob.c - what is read of a line, from a peer of any kind
 */
#define _GNU_SOURCE
#include "oob.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "oob_ends.h"

static void assert_recv_works(void)
{
	struct params got;
	int ret = recv_params(&got);

	assert_string_equal(said.err, "");
	assert_int_equal(ret, 0);
	assert_int_equal(got.psn, params.psn);
	assert_int_equal(got.mem.length, params.mem.length);
}

TEST_AROUND(params_both_ways, open_server, close_ends)
{
	char line[PARAMS_MAX + 1];
	size_t length = params_encode(&params, line);

	say(line, length);
	assert_recv_works();
	assert_int_equal(oob_send_params(ends.oob, &params), 0);
	hear(line);
}

TEST_AROUND(a_byte_at_a_time, open_server, close_ends)
{
	char line[PARAMS_MAX + 1];
	size_t length = params_encode(&params, line);

	slowly = true;
	say(line, length);
	say("READY\n", 6);
	assert_recv_works();
	assert_int_equal(oob_send_params(ends.oob, &params), 0);
	hear(line);
	/* The first line has not taken the second one along. */
	assert_int_equal(oob_ready(ends.oob), 0);
	hear("READY\n");
}

TEST_AROUND(in_pieces, open_server, close_ends)
{
	char line[PARAMS_MAX + 1] = "";
	pthread_t thread;

	params_encode(&params, line);
	assert_int_equal(pthread_create(&thread, NULL, dribble, line), 0);
	assert_recv_works();
	assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST_AROUND(too_long, open_server, close_ends)
{
	char line[PARAMS_MAX + 1];

	memset(line, 'x', sizeof(line));
	say(line, PARAMS_MAX);
	assert_recv_fails("more than 256 bytes");
}

/* The longest line that there may be is read, and then looked at. */
TEST_AROUND(longest, open_server, close_ends)
{
	char line[PARAMS_MAX];

	memset(line, 'x', sizeof(line));
	line[PARAMS_MAX - 1] = '\n';
	say(line, sizeof(line));
	assert_recv_fails("begin with RDMA");
}

TEST_AROUND(silence, open_impatient, close_ends)
{
	assert_recv_fails("the peer's parameters: nothing came within 1 s");
	assert_in_range(wait_deadline(0) - ends.began, 990, 15000);
}

static void *dribble_for_ever(void *unused)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	(void)unused;
	while (send(ends.peer, "R", 1, MSG_NOSIGNAL) == 1)
		nanosleep(&pause, NULL);
	return NULL;
}

/* Each byte is news, but the deadline stays where it was. */
TEST_AROUND(dribbling_peer_is_cut_off, open_impatient, close_ends)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, dribble_for_ever, NULL),
			 0);
	assert_recv_fails("the peer's parameters: nothing came within 1 s");
	assert_in_range(wait_deadline(0) - ends.began, 990, 15000);
	assert_int_equal(shutdown(ends.peer, SHUT_WR), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST_AROUND(close_in_the_middle, open_server, close_ends)
{
	say("RDMA 1 QPN", 10);
	close(ends.peer);
	ends.peer = -1;
	assert_recv_fails("closed the connection instead of sending the peer's"
			  " parameters");
}

TEST_AROUND(reset, open_server, close_ends)
{
	reset_peer();
	assert_recv_fails("recv: Connection reset by peer; while waiting for");
}

TEST_AROUND(stop, open_server, close_ends)
{
	struct patience patience = ends.patience;

	patience.stop_fd = eventfd(1, 0);
	oob_close(ends.oob);
	close(ends.peer);
	ends.peer = plain_socket(port_of(oob_fd(ends.listener)));
	ends.oob = oob_accept(ends.listener, &patience);
	assert_non_null(ends.oob);
	assert_recv_fails("asked to stop");
	close(patience.stop_fd);
}

TEST_AROUND(ready, open_server, close_ends)
{
	static const char *const bad[] = { "READ\n", "READY \n", "ready\n",
					   "BYE\n" };

	say("READY\n", 6);
	assert_int_equal(oob_ready(ends.oob), 0);
	hear("READY\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int ret;

		say(bad[i], strlen(bad[i]));
		ret = CAPTURED(oob_ready(ends.oob));
		assert_int_equal(ret, -1);
		assert_one_line(said.err, "something other than READY");
		hear("READY\n");
	}
}
