/*
 * test_03_qp.c - what a queue pair is told of its peer and of its own device
 */
#include "rdma.h"

#include "test.h"

static const struct params peer = {
	.qpn = 0x11,
	.psn = 0x123456,
	.gid.raw = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
	.lid = 7,
	.mtu = IBV_MTU_2048,
};

/* What the queue pair was last told. */
static struct ibv_qp_attr told;
static int told_mask;

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	told = *attr;
	told_mask = mask;
	return 0;
}

static struct ibv_qp qp;
static struct device device;
static struct network network;
static struct conn conn;

/* To RTR and RTS on a port of that kind, of a device that can so many reads. */
static void connect_qp(bool roce, bool needs_grh, int reads_in, int reads_out)
{
	struct ibv_qp_attr rtr;
	int ret;

	device = (struct device){
		.port_num = 1,
		.roce = roce,
		.reads_in = reads_in,
		.reads_out = reads_out,
	};
	conn = (struct conn){
		.network = &network,
		.device = &device,
		.qp = &qp,
		.gid_index = 3,
		.needs_grh = needs_grh,
		.mine = { .psn = 0xabcdef, .mtu = IBV_MTU_1024 },
		.peer = peer,
	};
	capture_start();
	ret = qp_to_rtr(&conn);
	rtr = told;
	if (!ret)
		ret = qp_to_rts(&conn);
	capture_stop(&said);
	assert_int_equal(ret, 0);
	assert_string_equal(said.err, "");
	assert_true(told_mask & IBV_QP_MAX_QP_RD_ATOMIC);
	assert_int_equal(told.max_rd_atomic, reads_out);
	assert_int_equal(told.sq_psn, 0xabcdef);
	assert_int_equal(rtr.max_dest_rd_atomic, reads_in);
	rtr.timeout = told.timeout;
	rtr.retry_cnt = told.retry_cnt;
	told = rtr;
}

static void assert_global(void)
{
	assert_int_equal(told.ah_attr.is_global, 1);
	assert_memory_equal(&told.ah_attr.grh.dgid, &peer.gid, 16);
	assert_int_equal(told.ah_attr.grh.sgid_index, 3);
}

TEST(way_to_the_peer)
{
	connect_qp(true, true, 16, 16);
	assert_global();
	assert_int_equal(told.ah_attr.dlid, 0);
	connect_qp(false, false, 4, 1);
	assert_int_equal(told.ah_attr.is_global, 0);
	assert_int_equal(told.ah_attr.dlid, 7);
	connect_qp(false, true, 16, 16);
	assert_global();
	assert_int_equal(told.ah_attr.dlid, 7);
}

/* What options ask for is told, and what they do not is as the chapter has it. */
TEST(network)
{
	network = (struct network){
		.service_level = 3,
		.traffic_class = 104,
		.pkey_index = 2,
		.ack_timeout = 18,
		.retry_count = 3,
	};
	connect_qp(true, true, 16, 16);
	assert_global();
	assert_int_equal(told.ah_attr.sl, 3);
	assert_int_equal(told.ah_attr.grh.traffic_class, 104);
	assert_int_equal(told.timeout, 18);
	assert_int_equal(told.retry_cnt, 3);
	CAPTURE(assert_int_equal(qp_to_init(&conn, 0), 0));
	assert_int_equal(told.pkey_index, 2);
	/* InfiniBand: the service level goes with the LID, too. */
	connect_qp(false, false, 16, 16);
	assert_int_equal(told.ah_attr.dlid, 7);
	assert_int_equal(told.ah_attr.sl, 3);
	network = (struct network){ 0 };
	connect_qp(true, true, 16, 16);
	assert_int_equal(told.timeout, 14);
	assert_int_equal(told.retry_cnt, 6);
}
