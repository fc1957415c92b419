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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "oob_ends.h"

static int check(void)
{
	return CAPTURED(oob_check(ends.oob));
}

TEST_AROUND(check, open_server, close_ends)
{
	assert_int_equal(check(), OOB_THERE);
	say("BYE\n", 4);
	assert_int_equal(check(), OOB_SAID_BYE);
	assert_string_equal(said.err, "");
	say("BYEBYE\n", 7);
	assert_int_equal(check(), -1);
	assert_one_line(said.err, "something other than BYE");
	close(ends.peer);
	ends.peer = -1;
	assert_int_equal(check(), OOB_GONE);
	assert_string_equal(said.err, "");
}

TEST_AROUND(check_reset, open_server, close_ends)
{
	reset_peer();
	assert_int_equal(check(), OOB_GONE);
	assert_string_equal(said.err, "");
}

/* A goodbye in pieces, when the deadline of the exchange is long over. */
TEST_AROUND(late_goodbye, open_impatient, close_ends)
{
	char bye[] = "BYE\n";
	pthread_t thread;

	assert_recv_fails("nothing came within 1 s");
	say("B", 1);
	assert_int_equal(pthread_create(&thread, NULL, dribble, bye + 1), 0);
	assert_int_equal(check(), OOB_SAID_BYE);
	assert_string_equal(said.err, "");
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* To write to a peer that is gone is an error and not the end of us. */
TEST_AROUND(peer_gone, open_server, close_ends)
{
	int ret;

	reset_peer();
	oob_bye(ends.oob);
	ret = CAPTURED(oob_send_params(ends.oob, &params));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "error: send: ");
	/* Nor is the goodbye, now that the socket knows. */
	oob_bye(ends.oob);
}

TEST_AROUND(local_address, open_server, close_ends)
{
	const struct sockaddr_in *local;

	local = (const struct sockaddr_in *)oob_local(ends.oob);
	assert_int_equal(local->sin_family, AF_INET);
	assert_int_equal(ntohl(local->sin_addr.s_addr), INADDR_LOOPBACK);
}
