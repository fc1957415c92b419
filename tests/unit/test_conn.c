/*
 * test_conn.c - what two ends agree on, and in which order a connection is made
 * and unmade
 */
#include "conn.h"

#include "test.h"
#include "conn_device.h"

#include "conn_ends.h"

static const struct params peer = {
	.qpn = 0x11,
	.psn = 0x123456,
	.gid.raw = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
	.lid = 7,
	.mtu = IBV_MTU_1024,
	.mode = MODE_READ,
	.mem = { 0x55d0c0ffee00, 0x7f1, 1024 },
};
static const struct remote ours = { 0x1000, 0x9, 1024 };

static struct device device = { .verbs = &context, .port_num = 2 };
static struct conn conn;

static int reset(void **state)
{
	(void)state;
	asked[0] = 0;
	ready_answer = recv_answer = 0;
	peer_says = &peer;
	qp.state = IBV_QPS_RESET;
	conn = (struct conn){
		.device = &device,
		.patience = { .timeout_ms = 1000, .stop_fd = -1 },
		.peer = peer,
		.mine = { .psn = 0xabcdef, .mtu = IBV_MTU_1024 },
	};
	prepare(&conn);
	return 0;
}

static int create(unsigned int access)
{
	return CAPTURED(conn_create_qp(&conn, 5, 3, access));
}

/* As a server does, or as a client does. */
static int establish(bool server, enum mode mode)
{
	int ret;

	asked[0] = 0;
	/* As data_open() fills them in. */
	conn.mine.mode = mode;
	conn.mine.mem = ours;
	ret = CAPTURED(server ? conn_accept(&conn) : conn_connect(&conn));
	return ret;
}

static void close_all(void)
{
	asked[0] = 0;
	CAPTURE(conn_close(&conn));
	assert_string_equal(said.err, "");
}

TEST_AROUND(create, reset, NULL)
{
	assert_int_equal(create(IBV_ACCESS_REMOTE_READ), 0);
	assert_string_equal(asked, "pd channel cq qp INIT");
	/* Room for every completion that can be there at a time. */
	assert_true(cq_entries >= 5 + 3);
	assert_int_equal(qp_attr.cap.max_send_wr, 5);
	assert_int_equal(qp_attr.cap.max_recv_wr, 3);
	assert_int_equal(qp_attr.qp_type, IBV_QPT_RC);
	/* What the peer may do is what was asked for, and no more. */
	assert_int_equal(init.qp_access_flags, IBV_ACCESS_REMOTE_READ);
	assert_int_equal(init.port_num, 2);
	assert_true(masks[IBV_QPS_INIT] & IBV_QP_ACCESS_FLAGS);
	assert_int_equal(conn.mine.qpn, 0x77);
	close_all();
}

/* The last that was made is the first to go. */
TEST_AROUND(close, reset, NULL)
{
	assert_int_equal(create(0), 0);
	close_all();
	assert_string_equal(asked, "-qp -cq -channel -pd -oob");
	/* Half of it, and nothing at all. */
	reset(NULL);
	conn.pd = ibv_alloc_pd(&context);
	close_all();
	assert_string_equal(asked, "-pd -oob");
	reset(NULL);
	close_all();
	assert_string_equal(asked, "-oob");
}

/* Each side's PSN is the other's; who is READY can be sent to. */
TEST_AROUND(establish, reset, NULL)
{
	assert_int_equal(create(0), 0);
	assert_int_equal(establish(true, MODE_READ), 0);
	assert_string_equal(asked, "send RTR RTS ready");
	assert_int_equal(rtr.rq_psn, 0x123456);
	assert_int_equal(rtr.dest_qp_num, 0x11);
	assert_int_equal(rts.sq_psn, 0xabcdef);
	/* 7 would be "for ever". */
	assert_in_range(rts.retry_cnt, 1, 6);
	assert_true(rts.timeout > 0);
	close_all();
	reset(NULL);
	assert_int_equal(create(0), 0);
	assert_int_equal(establish(false, MODE_READ), 0);
	assert_string_equal(asked, "send recv RTR RTS ready");
	close_all();
}

/* A packet must fit the smaller of the two ports. */
TEST_AROUND(mtu, reset, NULL)
{
	struct params other = peer;

	peer_says = &other;
	for (enum ibv_mtu a = IBV_MTU_256; a <= IBV_MTU_4096; a++)
		for (enum ibv_mtu b = IBV_MTU_256; b <= IBV_MTU_4096; b++) {
			reset(NULL);
			peer_says = &other;
			conn.mine.mtu = a;
			conn.peer.mtu = other.mtu = b;
			assert_int_equal(create(0), 0);
			assert_int_equal(establish(a > b, MODE_READ), 0);
			assert_int_equal(rtr.path_mtu, a < b ? a : b);
			close_all();
		}
}

/* Found out before the queue pair can do anything. */
TEST_AROUND(modes, reset, NULL)
{
	for (int server = 0; server < 2; server++) {
		reset(NULL);
		assert_int_equal(create(0), 0);
		assert_int_equal(establish(server, MODE_WRITE), -1);
		assert_one_line(said.err,
				"this side runs write and the peer read");
		assert_string_equal(asked, server ? "send" : "send recv");
		close_all();
	}
}

/* And so is it if they do not have as much memory. */
TEST_AROUND(sizes, reset, NULL)
{
	struct params other = peer;

	for (int server = 0; server < 2; server++) {
		reset(NULL);
		peer_says = &other;
		assert_int_equal(create(0), 0);
		conn.peer = peer;
		conn.peer.mem.length = other.mem.length = ours.length + 1;
		assert_int_equal(establish(server, MODE_READ), -1);
		assert_one_line(said.err, "start both with the same -b");
		assert_string_equal(asked, server ? "send" : "send recv");
		close_all();
	}
}

TEST_AROUND(not_ready, reset, NULL)
{
	ready_answer = -1;
	assert_int_equal(create(0), 0);
	assert_int_equal(establish(true, MODE_READ), -1);
	assert_int_equal(establish(false, MODE_READ), -1);
	ready_answer = 0;
	recv_answer = -1;
	assert_int_equal(establish(false, MODE_READ), -1);
	assert_string_equal(asked, "send recv");
	close_all();
}
