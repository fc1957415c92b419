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
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

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

static void test_params_both_ways(void **state)
{
	char line[PARAMS_MAX + 1];
	size_t length = params_encode(&params, line);

	(void)state;
	say(line, length);
	assert_recv_works();
	assert_int_equal(oob_send_params(ends.oob, &params), 0);
	hear(line);
}

static void test_a_byte_at_a_time(void **state)
{
	char line[PARAMS_MAX + 1];
	size_t length = params_encode(&params, line);

	(void)state;
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

static void test_in_pieces(void **state)
{
	char line[PARAMS_MAX + 1] = "";
	pthread_t thread;

	(void)state;
	params_encode(&params, line);
	assert_int_equal(pthread_create(&thread, NULL, dribble, line), 0);
	assert_recv_works();
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_too_long(void **state)
{
	char line[PARAMS_MAX + 1];

	(void)state;
	memset(line, 'x', sizeof(line));
	say(line, PARAMS_MAX);
	assert_recv_fails("more than 256 bytes");
}

/* The longest line that there may be is read, and then looked at. */
static void test_longest(void **state)
{
	char line[PARAMS_MAX];

	(void)state;
	memset(line, 'x', sizeof(line));
	line[PARAMS_MAX - 1] = '\n';
	say(line, sizeof(line));
	assert_recv_fails("begin with RDMA");
}

static void test_silence(void **state)
{
	(void)state;
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
static void test_dribbling_peer_is_cut_off(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, dribble_for_ever, NULL),
			 0);
	assert_recv_fails("the peer's parameters: nothing came within 1 s");
	assert_in_range(wait_deadline(0) - ends.began, 990, 15000);
	assert_int_equal(shutdown(ends.peer, SHUT_WR), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_close_in_the_middle(void **state)
{
	(void)state;
	say("RDMA 1 QPN", 10);
	close(ends.peer);
	ends.peer = -1;
	assert_recv_fails("closed the connection instead of sending the peer's"
			  " parameters");
}

static void test_reset(void **state)
{
	(void)state;
	reset_peer();
	assert_recv_fails("recv: Connection reset by peer; while waiting for");
}

static void test_stop(void **state)
{
	struct patience patience = ends.patience;

	(void)state;
	patience.stop_fd = eventfd(1, 0);
	oob_close(ends.oob);
	close(ends.peer);
	ends.peer = plain_socket(port_of(oob_fd(ends.listener)));
	ends.oob = oob_accept(ends.listener, &patience);
	assert_non_null(ends.oob);
	assert_recv_fails("asked to stop");
	close(patience.stop_fd);
}

static void test_ready(void **state)
{
	static const char *const bad[] = { "READ\n", "READY \n", "ready\n",
					   "BYE\n" };

	(void)state;
	say("READY\n", 6);
	assert_int_equal(oob_ready(ends.oob), 0);
	hear("READY\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int ret;

		say(bad[i], strlen(bad[i]));
		capture_start();
		ret = oob_ready(ends.oob);
		capture_stop(&said);
		assert_int_equal(ret, -1);
		assert_one_line(said.err, "something else than READY");
		hear("READY\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_server(test_params_both_ways),
		with_server(test_a_byte_at_a_time),
		with_server(test_in_pieces),
		with_server(test_too_long),
		with_server(test_longest),
		impatient(test_silence),
		impatient(test_dribbling_peer_is_cut_off),
		with_server(test_close_in_the_middle),
		with_server(test_reset),
		with_server(test_stop),
		with_server(test_ready),
	};

	return cmocka_run_group_tests_name("03_oob", tests, NULL, NULL);
}
