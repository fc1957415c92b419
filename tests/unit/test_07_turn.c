/*
 * test_07_turn.c - when the side that has accepted may send
 */
#include "cm.h"

#include "cm_help.h"
#include "scripted_events.h"

static struct rdma_event_channel channel;
static struct rdma_cm_id id = { .verbs = &context, .channel = &channel };
static int comp_fd, stop_fd;

static int setup(void **state)
{
	(void)state;
	plain.device.transport_type = IBV_TRANSPORT_IWARP;
	dev_reset();
	dev.cm_errno = EAGAIN;
	channel.fd = eventfd(0, EFD_NONBLOCK);
	comp_fd = eventfd(0, EFD_NONBLOCK);
	stop_fd = eventfd(0, EFD_NONBLOCK);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(dev.unacknowledged, 0);
	return close(channel.fd) || close(comp_fd) || close(stop_fd);
}

static int wait_turn(void)
{
	const struct patience patience = { 20, stop_fd };

	return CAPTURED(cm_wait_turn(&id, comp_fd, &patience));
}

/* Over RoCE and InfiniBand nothing is waited for. */
TEST_AROUND(no_rule, setup, teardown)
{
	plain.device.transport_type = IBV_TRANSPORT_IB;
	assert_int_equal(wait_turn(), 0);
	assert_string_equal(said.err, "");
}

/* The message is only seen: who waits for its completion still finds it. */
TEST_AROUND(message, setup, teardown)
{
	eventfd_t times;

	assert_int_equal(eventfd_write(comp_fd, 1), 0);
	/* The client may have left again. */
	dev.cm_errno = 0;
	dev.event.event = RDMA_CM_EVENT_DISCONNECTED;
	assert_int_equal(eventfd_write(channel.fd, 1), 0);
	assert_int_equal(wait_turn(), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(eventfd_read(comp_fd, &times), 0);
}

TEST_AROUND(silence, setup, teardown)
{
	assert_int_equal(wait_turn(), -1);
	assert_one_line(said.err, "error: the client's message, which comes "
				  "first over iWARP: nothing came within "
				  "0.02 s");
	/* A channel that is readable and empty is no news. */
	assert_int_equal(eventfd_write(channel.fd, 1), 0);
	assert_int_equal(wait_turn(), -1);
	assert_one_line(said.err, "nothing came within 0.02 s");
}

TEST_AROUND(left, setup, teardown)
{
	dev.cm_errno = 0;
	dev.event.event = RDMA_CM_EVENT_DISCONNECTED;
	assert_int_equal(eventfd_write(channel.fd, 1), 0);
	assert_int_equal(wait_turn(), -1);
	assert_one_line(said.err, "error: RDMA_CM_EVENT_DISCONNECTED instead "
				  "of the client's first message");
}

TEST_AROUND(stopped, setup, teardown)
{
	assert_int_equal(eventfd_write(stop_fd, 1), 0);
	assert_int_equal(wait_turn(), -1);
	assert_one_line(said.err, "the client's message");
}

/* Memory that a read fills, and what can be sent with a number. */
TEST_AROUND(device, setup, teardown)
{
	assert_int_equal(cm_read_access(&context),
			 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_false(cm_has_immediate(&context));
	plain.device.transport_type = IBV_TRANSPORT_IB;
	assert_int_equal(cm_read_access(&context), IBV_ACCESS_LOCAL_WRITE);
	assert_true(cm_has_immediate(&context));
}
