/*
 * test_03_qp.c - what a queue pair is told of its peer and of its own device
 */
#include "qp.h"

#include "scripted.h"

static const struct params peer = {
	.qpn = 0x11,
	.psn = 0x123456,
	.gid.raw = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
	.lid = 7,
};

/* To RTR and RTS on a device that can so many reads. */
static void connect_qp(int link_layer, uint8_t port_flags, int reads_in,
		       int reads_out)
{
	struct device device = {
		.port_num = 1,
		.link_layer = link_layer,
		.reads_in = reads_in,
		.reads_out = reads_out,
	};
	struct source source = { .gid_index = 3, .port.flags = port_flags };
	struct ibv_qp_attr rtr;
	int ret;

	capture_start();
	ret = qp_to_rtr(&qp, &device, &source, &peer, IBV_MTU_1024);
	rtr = dev.told;
	if (!ret)
		ret = qp_to_rts(&qp, &device, 0xabcdef);
	capture_stop(&said);
	assert_int_equal(ret, 0);
	assert_string_equal(said.err, "");
	assert_true(dev.told_mask & IBV_QP_MAX_QP_RD_ATOMIC);
	rtr.max_rd_atomic = dev.told.max_rd_atomic;
	dev.told = rtr;
}

static void assert_global(void)
{
	assert_int_equal(dev.told.ah_attr.is_global, 1);
	assert_memory_equal(&dev.told.ah_attr.grh.dgid, &peer.gid, 16);
	assert_int_equal(dev.told.ah_attr.grh.sgid_index, 3);
}

TEST(way_to_the_peer)
{
	connect_qp(IBV_LINK_LAYER_ETHERNET, 0, 16, 16);
	assert_global();
	assert_int_equal(dev.told.ah_attr.dlid, 0);
	connect_qp(IBV_LINK_LAYER_INFINIBAND, 0, 16, 16);
	assert_int_equal(dev.told.ah_attr.is_global, 0);
	assert_int_equal(dev.told.ah_attr.dlid, 7);
	connect_qp(IBV_LINK_LAYER_INFINIBAND, IBV_QPF_GRH_REQUIRED, 16, 16);
	assert_global();
	assert_int_equal(dev.told.ah_attr.dlid, 7);
}

/* As many as were asked for when the device was opened, in each direction. */
TEST(reads)
{
	connect_qp(IBV_LINK_LAYER_ETHERNET, 0, 4, 1);
	assert_int_equal(dev.told.max_dest_rd_atomic, 4);
	assert_int_equal(dev.told.max_rd_atomic, 1);
}

/* What options ask for is told, and what they do not is as the chapter has it. */
TEST(network)
{
	struct device device = {
		.port_num = 1,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.network = {
			.service_level = 3,
			.traffic_class = 104,
			.pkey_index = 2,
			.ack_timeout = 18,
			.retry_count = 3,
		},
	};
	struct source source = { .gid_index = 3 };
	capture_start();
	assert_int_equal(qp_to_init(&qp, &device, 0), 0);
	assert_int_equal(dev.told.pkey_index, 2);
	assert_int_equal(qp_to_rtr(&qp, &device, &source, &peer, IBV_MTU_1024),
			 0);
	assert_int_equal(dev.told.ah_attr.sl, 3);
	assert_int_equal(dev.told.ah_attr.grh.traffic_class, 104);
	assert_global();
	assert_int_equal(qp_to_rts(&qp, &device, 0xabcdef), 0);
	assert_int_equal(dev.told.timeout, 18);
	assert_int_equal(dev.told.retry_cnt, 3);
	device.network = (struct network){ 0 };
	assert_int_equal(qp_to_rts(&qp, &device, 0xabcdef), 0);
	assert_int_equal(dev.told.timeout, 14);
	assert_int_equal(dev.told.retry_cnt, 6);
	capture_stop(&said);
	assert_string_equal(said.err, "");
}

/* InfiniBand: the service level goes with the LID, with and without a GID. */
TEST(service_level)
{
	struct device device = {
		.port_num = 1,
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
		.network.service_level = 5,
	};
	struct source source = { .gid_index = 0 };
	CAPTURE(assert_int_equal(
		qp_to_rtr(&qp, &device, &source, &peer, IBV_MTU_1024), 0));
	assert_int_equal(dev.told.ah_attr.is_global, 0);
	assert_int_equal(dev.told.ah_attr.dlid, 7);
	assert_int_equal(dev.told.ah_attr.sl, 5);
}
