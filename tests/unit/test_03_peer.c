/*
 * test_03_peer.c - a peer that leaves, and one that says goodbye
 */
#include "peer.h"

#include <unistd.h>

#include "test.h"
#include "conn_device.h"

#include "conn_ends.h"

#define LEFT "the peer's connection ended without a goodbye"

static struct device device = { .verbs = &context, .port_num = 2 };
static struct conn conn;

/* A connected queue pair; oob_check() will find answer, if it is asked. */
static void connected(int answer)
{
	asked[0] = 0;
	check_answer = answer;
	qp.state = IBV_QPS_RTS;
	conn = (struct conn){
		.device = &device,
		.qp = &qp,
		.patience = { .timeout_ms = 50, .stop_fd = -1 },
	};
}

static int check(void)
{
	return CAPTURED(peer_check(&conn));
}

/* As a client does, or as a server does. */
static int disconnect(bool server)
{
	return CAPTURED(server ? peer_wait_disconnect(&conn, 50) :
				 peer_disconnect(&conn));
}

static int start(void **state)
{
	(void)state;
	/* There is always something to look at. */
	oob_news = eventfd(1, 0);
	return oob_news < 0;
}

static int stop(void **state)
{
	(void)state;
	return close(oob_news);
}

TEST(there)
{
	connected(OOB_THERE);
	assert_int_equal(peer_fd(&conn), oob_news);
	assert_int_equal(check(), 0);
	assert_string_equal(asked, "check");
	assert_int_equal(peer_fd(&conn), oob_news);
	connected(-1);
	assert_int_equal(check(), -1);
}

/* What was posted must come back: only ERR brings it. */
TEST(left)
{
	connected(OOB_GONE);
	assert_int_equal(check(), 0);
	assert_string_equal(asked, "check ERR");
	/* There is nothing more to be heard of it. */
	assert_int_equal(peer_fd(&conn), -1);
	assert_string_equal(said.err, "");
	for (int server = 0; server < 2; server++) {
		asked[0] = 0;
		assert_int_equal(disconnect(server), -1);
		assert_one_line(said.err, LEFT);
		assert_string_equal(asked, server ? "" : "bye");
		assert_string_equal(said.out, "");
	}
}

/* It waits for our goodbye: until then, what is under way can arrive. */
TEST(done)
{
	connected(OOB_SAID_BYE);
	assert_int_equal(check(), 0);
	assert_string_equal(asked, "check");
	assert_int_equal(peer_fd(&conn), -1);
	for (int server = 0; server < 2; server++) {
		asked[0] = 0;
		assert_int_equal(disconnect(server), 0);
		assert_string_equal(asked, "bye");
	}
}

/* The client says goodbye first, and the server only to one who has said it. */
TEST(goodbyes)
{
	connected(OOB_SAID_BYE);
	assert_int_equal(disconnect(false), 0);
	assert_string_equal(asked, "bye check");
	assert_string_equal(said.out, "disconnected.\n");
	connected(OOB_SAID_BYE);
	assert_int_equal(disconnect(true), 0);
	assert_string_equal(asked, "check bye");
	assert_string_equal(said.out, "peer disconnected.\n");
	connected(OOB_GONE);
	assert_int_equal(disconnect(false), -1);
	assert_one_line(said.err, LEFT);
	assert_string_equal(said.out, "");
	connected(OOB_GONE);
	assert_int_equal(disconnect(true), -1);
	assert_one_line(said.err, LEFT);
	assert_null(strstr(asked, "bye"));
}

/* One that is there and says nothing is not waited for without end. */
TEST(silent)
{
	for (int server = 0; server < 2; server++) {
		connected(OOB_THERE);
		assert_int_equal(disconnect(server), -1);
		assert_one_line(said.err, "the peer's goodbye: nothing came "
					  "within 0.05 s");
	}
}

/*
 * A client has all, so it is not stopped on the last step; but a server that does
 * not answer keeps it for a second, and not for as long as -t says.
 */
TEST(stopped)
{
	int64_t begin;

	connected(OOB_THERE);
	conn.patience = (struct patience){ 60000, oob_news };
	alarm(30);
	begin = wait_deadline(1);
	assert_int_equal(disconnect(false), -1);
	assert_in_range(wait_deadline(1) - begin, 900, 20000);
	alarm(0);
	assert_one_line(said.err, "asked to stop");
	connected(OOB_SAID_BYE);
	conn.patience.stop_fd = oob_news;
	assert_int_equal(disconnect(false), 0);
	connected(OOB_SAID_BYE);
	conn.patience.stop_fd = oob_news;
	assert_int_equal(disconnect(true), -1);
	assert_one_line(said.err, "asked to stop");
}

AROUND_ALL(start, stop)
