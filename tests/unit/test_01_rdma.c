/*
 * test_01_rdma.c - rdma.c and verbs.c on a device and a CM that do what the real ones seldom do
 *
 * Some events need a subnet manager or a minute and a half to come by themselves.
 */
#define _GNU_SOURCE
#include "message.h"

#include <fcntl.h>
#include <stdio.h>

#include "iwarp.h"
#include "scripted_events.h"

static struct rdma_event_channel channel;
static struct ibv_comp_channel comp;
static struct rdma_cm_id id = { .verbs = &context, .qp = &qp };
static struct conn conn;
static struct message message;
static int stop_fd;

static int setup(void **state)
{
	(void)state;
	dev_reset();
	dev.no_event = true;
	channel.fd = eventfd(0, EFD_NONBLOCK);
	comp.fd = eventfd(0, EFD_NONBLOCK);
	stop_fd = eventfd(0, EFD_NONBLOCK);
	conn = (struct conn){
		.patience = { 20, stop_fd },
		.events = &channel,
		.id = &id,
		.qp = &qp,
		.pd = &pd,
		.comp = &comp,
		.cq = &cq,
	};
	message = (struct message){ .conn = &conn };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(dev.unacknowledged, 0);
	return close(channel.fd) || close(comp.fd) || close(stop_fd);
}

/* The CM has this event, which is not what is waited for. */
static void comes(enum rdma_cm_event_type event, int status)
{
	dev.no_event = false;
	dev.event.event = event;
	dev.event.status = status;
}

/* As a client that has disconnected waits for the server's DISCONNECTED. */
static int wait_event(void)
{
	conn.established = true;
	return CAPTURED(conn_wait_disconnect(&conn));
}

/* Both events, the status and its meaning in one line. */
static void assert_named(enum rdma_cm_event_type event, int status,
			 const char *named, const char *meaning)
{
	char part[256];

	comes(event, status);
	assert_int_equal(wait_event(), -1);
	snprintf(part, sizeof(part),
		 "error: waited for RDMA_CM_EVENT_DISCONNECTED, got %s: ",
		 named);
	assert_one_line(said.err, part);
	assert_non_null(strstr(said.err + strlen(part), meaning));
}

TEST_AROUND(named, setup, teardown)
{
	for (size_t i = 0; i < sizeof(surprises) / sizeof(*surprises); i++)
		assert_named(surprises[i].event, surprises[i].status,
			     surprises[i].named, surprises[i].meaning);
	assert_named(RDMA_CM_EVENT_ESTABLISHED, 0,
		     "RDMA_CM_EVENT_ESTABLISHED (status 0)", "protocol");
}

/* While messages are waited for, what the CM says ends that, in one line. */
TEST_AROUND(news, setup, teardown)
{
	struct ibv_wc wc;

	comes(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	assert_int_equal(eventfd_write(channel.fd, 1), 0);
	assert_int_equal(CAPTURED(conn_wait(&conn, &wc)), -1);
	assert_one_line(said.err, "error: the peer left, and what is");
	comes(RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	assert_int_equal(CAPTURED(conn_wait(&conn, &wc)), -1);
	assert_one_line(said.err, "REMOVAL in the middle of the conversation");
}

/* Requests are taken back, whatever the CM says, and after a signal, too. */
TEST_AROUND(end, setup, teardown)
{
	assert_int_equal(message_open(&message), 0);
	assert_int_equal(message_post_send(&message, 0), 0);
	assert_int_equal(dev.requests[0].wr.num_sge, 0);
	comes(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	assert_int_equal(eventfd_write(channel.fd, 1), 0);
	assert_int_equal(eventfd_write(stop_fd, 1), 0);
	dev.ready = 0;
	CAPTURE(conn_end(&conn));
	assert_one_line(said.err, "error: the flush of all posted requests: "
				  "nothing came within 0.02 s");
	assert_int_equal(dev.told.qp_state, IBV_QPS_ERR);
	dev.ready = 1;
	CAPTURE(conn_end(&conn));
	assert_string_equal(said.err, "");
	assert_int_equal(conn.pending, 0);
	CAPTURE(message_close(&message));
	assert_int_equal(dev.gone, 2);
}

/* Sending only reads the memory; what was there before is nobody's to see. */
TEST_AROUND(memory, setup, teardown)
{
	assert_int_equal(message_open(&message), 0);
	assert_int_equal(dev.regions[0].access, 0);
	assert_int_equal(dev.regions[1].access, IBV_ACCESS_LOCAL_WRITE);
	for (int i = 0; i < 2 * MESSAGE_SIZE; i++)
		assert_int_equal(((char *)dev.regions[i % 2].mr.addr)[i / 2],
				 0);
	/* What the device may still write to must not become somebody else's. */
	dev.keeps = 1;
	CAPTURE(message_close(&message));
	assert_one_line(said.err, "error: ibv_dereg_mr: Device or resource "
				  "busy; its memory is not freed");
	assert_int_equal(dev.gone, 1);
	free(dev.regions[1].mr.addr);
}

/* Over iWARP, the side that has accepted waits until its CQ has something. */
TEST_AROUND(turn, setup, teardown)
{
	static const struct {
		int message, stop;
		const char *says;
	} ways[] = {
		{ 0, 0,
		  "error: the client's message, which comes first over "
		  "iWARP: nothing came within 0.02 s" },
		{ 1, 0, NULL },
		{ 1, 1,
		  "error: the client's message, which comes first over "
		  "iWARP: given up" },
	};

	for (int iwarp = 0; iwarp < 2; iwarp++)
		for (int i = 0; i < 3; i++) {
			bool fails = iwarp && ways[i].says;

			plain.device.transport_type =
				iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
			eventfd_write(comp.fd, ways[i].message);
			eventfd_write(stop_fd, ways[i].stop);
			assert_int_equal(
				CAPTURED(iwarp_wait_turn(&context, comp.fd,
							 &conn.patience)),
				fails ? -1 : 0);
			if (fails)
				assert_one_line(said.err, ways[i].says);
			else
				assert_string_equal(said.err, "");
			eventfd_read(comp.fd, &(eventfd_t){ 0 });
			eventfd_read(stop_fd, &(eventfd_t){ 0 });
		}
	plain.device.transport_type = IBV_TRANSPORT_IB;
}
