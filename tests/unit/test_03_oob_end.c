/*
 * test_03_oob_end.c - the peer that lives, says goodbye, or is gone
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

static int check(void)
{
	int ret;

	capture_start();
	ret = oob_check(ends.oob);
	capture_stop(&said);
	return ret;
}

static void test_check(void **state)
{
	(void)state;
	assert_int_equal(check(), OOB_THERE);
	say("BYE\n", 4);
	assert_int_equal(check(), OOB_SAID_BYE);
	assert_string_equal(said.err, "");
	say("BYEBYE\n", 7);
	assert_int_equal(check(), -1);
	assert_one_line(said.err, "something else than BYE");
	close(ends.peer);
	ends.peer = -1;
	assert_int_equal(check(), OOB_GONE);
	assert_string_equal(said.err, "");
}

static void test_check_reset(void **state)
{
	(void)state;
	reset_peer();
	assert_int_equal(check(), OOB_GONE);
	assert_string_equal(said.err, "");
}

/* A goodbye in pieces, when the deadline of the exchange is long over. */
static void test_late_goodbye(void **state)
{
	char bye[] = "BYE\n";
	pthread_t thread;

	(void)state;
	assert_recv_fails("nothing came within 1 s");
	say("B", 1);
	assert_int_equal(pthread_create(&thread, NULL, dribble, bye + 1), 0);
	assert_int_equal(check(), OOB_SAID_BYE);
	assert_string_equal(said.err, "");
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* To write to a peer that is gone is an error and not the end of us. */
static void test_peer_gone(void **state)
{
	int ret;

	(void)state;
	reset_peer();
	oob_bye(ends.oob);
	capture_start();
	ret = oob_send_params(ends.oob, &params);
	capture_stop(&said);
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "error: send: ");
	/* Nor is the goodbye, now that the socket knows. */
	oob_bye(ends.oob);
}

static void test_local_address(void **state)
{
	const struct sockaddr_in *local;

	(void)state;
	local = (const struct sockaddr_in *)oob_local(ends.oob);
	assert_int_equal(local->sin_family, AF_INET);
	assert_int_equal(ntohl(local->sin_addr.s_addr), INADDR_LOOPBACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_server(test_check),	 with_server(test_check_reset),
		impatient(test_late_goodbye),	 with_server(test_peer_gone),
		with_server(test_local_address),
	};

	return cmocka_run_group_tests_name("03_oob_end", tests, NULL, NULL);
}
