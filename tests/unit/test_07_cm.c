/*
 * test_07_cm.c - the events of the connection manager
 *
 * They are scripted: some of them need a subnet manager or a minute and a half to
 * come by themselves.
 */
#define _GNU_SOURCE
#include "cm.h"

#include <fcntl.h>
#include <stdio.h>

#include "scripted_events.h"

static struct rdma_event_channel channel;

static int setup(void **state)
{
	static int pipe_fds[2];

	*state = pipe_fds;
	dev_reset();
	if (pipe2(pipe_fds, O_NONBLOCK))
		return -1;
	channel.fd = pipe_fds[0];
	return 0;
}

static int teardown(void **state)
{
	int *pipe_fds = *state;

	return close(pipe_fds[0]) || close(pipe_fds[1]);
}

/* cm_expect() of want with 20 ms of patience. */
static int expect(enum rdma_cm_event_type want, struct rdma_cm_id **id)
{
	struct patience patience = { .timeout_ms = 20, .stop_fd = -1 };
	int ret;

	ret = CAPTURED(cm_expect(&channel, want, &patience, id));
	assert_int_equal(dev.unacknowledged, 0);
	return ret;
}

TEST_AROUND(expected, setup, teardown)
{
	struct rdma_cm_id id, *got = NULL;

	dev.event.event = RDMA_CM_EVENT_CONNECT_REQUEST;
	dev.event.id = &id;
	assert_int_equal(expect(RDMA_CM_EVENT_CONNECT_REQUEST, &got), 0);
	assert_ptr_equal(got, &id);
	assert_string_equal(said.err, "");
	assert_string_equal(said.out, "");
	dev.event.event = RDMA_CM_EVENT_ESTABLISHED;
	assert_int_equal(expect(RDMA_CM_EVENT_ESTABLISHED, NULL), 0);
}

/* Both events, the status and its meaning in one line; id is left alone. */
static void assert_named(enum rdma_cm_event_type event, int status,
			 const char *named, const char *meaning)
{
	struct rdma_cm_id id, *got = NULL;
	char part[256];

	dev.event.event = event;
	dev.event.status = status;
	dev.event.id = &id;
	assert_int_equal(expect(RDMA_CM_EVENT_ESTABLISHED, &got),
			 event == RDMA_CM_EVENT_DEVICE_REMOVAL ? CM_NO_MORE :
								 -1);
	assert_null(got);
	snprintf(
		part, sizeof(part),
		"error: waited for RDMA_CM_EVENT_ESTABLISHED, got %s: ", named);
	assert_one_line(said.err, part);
	assert_non_null(strstr(said.err + strlen(part), meaning));
}

TEST_AROUND(named, setup, teardown)
{
	for (size_t i = 0; i < sizeof(surprises) / sizeof(*surprises); i++)
		assert_named(surprises[i].event, surprises[i].status,
			     surprises[i].named, surprises[i].meaning);
	assert_named(RDMA_CM_EVENT_DISCONNECTED, 0,
		     "RDMA_CM_EVENT_DISCONNECTED (status 0)", "disconnected");
}

TEST_AROUND(nothing_comes, setup, teardown)
{
	dev.cm_errno = EAGAIN;
	assert_int_equal(expect(RDMA_CM_EVENT_ESTABLISHED, NULL), -1);
	assert_one_line(said.err, "error: RDMA_CM_EVENT_ESTABLISHED: nothing "
				  "came within 0.02 s");
}

/* The library keeps some events to itself: readable is not yet an event. */
TEST_AROUND(readable_but_empty, setup, teardown)
{
	int *pipe_fds = *state;

	dev.cm_errno = EAGAIN;
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	assert_int_equal(expect(RDMA_CM_EVENT_ESTABLISHED, NULL), -1);
	assert_int_equal(read(pipe_fds[0], &(char){ 0 }, 1), -1);
	assert_one_line(said.err, "nothing came within 0.02 s");
}

TEST_AROUND(channel_fails, setup, teardown)
{
	dev.cm_errno = EIO;
	/* To try again would be to say the same again, for ever. */
	assert_int_equal(expect(RDMA_CM_EVENT_ESTABLISHED, NULL), CM_NO_MORE);
	assert_one_line(said.err, "error: rdma_get_cm_event: Input/output "
				  "error; while waiting for "
				  "RDMA_CM_EVENT_ESTABLISHED");
}

/* What the event says is so all the same: a new id is the caller's. */
TEST_AROUND(acknowledging_fails, setup, teardown)
{
	dev.ack_errno = EIO;
	dev.event.event = RDMA_CM_EVENT_ESTABLISHED;
	assert_int_equal(expect(RDMA_CM_EVENT_ESTABLISHED, NULL), 0);
	assert_one_line(said.err, "error: rdma_ack_cm_event: Input/output");
}

/* What cm_poll() returns; if 1, *type is set. */
static int poll_channel(enum rdma_cm_event_type *type)
{
	int ret;

	ret = CAPTURED(cm_poll(&channel, type));
	assert_int_equal(dev.unacknowledged, 0);
	return ret;
}

TEST_AROUND(poll, setup, teardown)
{
	enum rdma_cm_event_type type;

	dev.event.event = RDMA_CM_EVENT_DISCONNECTED;
	assert_int_equal(poll_channel(&type), 1);
	assert_int_equal(type, RDMA_CM_EVENT_DISCONNECTED);
	assert_string_equal(said.err, "");
	dev.cm_errno = EAGAIN;
	assert_int_equal(poll_channel(&type), 0);
	assert_string_equal(said.err, "");
	dev.cm_errno = EIO;
	assert_int_equal(poll_channel(&type), -1);
	assert_one_line(said.err, "error: rdma_get_cm_event: Input/output");
	dev.cm_errno = 0;
	dev.ack_errno = EIO;
	assert_int_equal(poll_channel(&type), 1);
	assert_one_line(said.err, "error: rdma_ack_cm_event: Input/output");
}

/* ADDR_CHANGE is a hint: neither what is waited for, nor the end of anything. */
TEST_AROUND(hint, setup, teardown)
{
	enum rdma_cm_event_type type;

	dev.hints = 1;
	dev.event.event = RDMA_CM_EVENT_ESTABLISHED;
	assert_int_equal(expect(RDMA_CM_EVENT_ESTABLISHED, NULL), 0);
	assert_string_equal(said.err, "");
	assert_one_line(said.out, "RDMA_CM_EVENT_ADDR_CHANGE: only a hint");
	dev.hints = 2;
	dev.event.event = RDMA_CM_EVENT_DISCONNECTED;
	assert_int_equal(poll_channel(&type), 1);
	assert_int_equal(type, RDMA_CM_EVENT_DISCONNECTED);
	dev.hints = 1;
	dev.cm_errno = EAGAIN;
	assert_int_equal(poll_channel(&type), 0);
	assert_string_equal(said.err, "");
}

/* Whoever does not wait takes what is there, and says nothing if there is none. */
TEST_AROUND(without_patience, setup, teardown)
{
	struct rdma_cm_id id, *got = NULL;

	dev.hints = 1;
	dev.cm_errno = EAGAIN;
	CAPTURE(assert_int_equal(
		cm_expect(&channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, &got),
		-1));
	assert_string_equal(said.err, "");
	assert_null(got);
	dev.cm_errno = 0;
	dev.event.event = RDMA_CM_EVENT_CONNECT_REQUEST;
	dev.event.id = &id;
	assert_int_equal(cm_expect(&channel, RDMA_CM_EVENT_CONNECT_REQUEST,
				   NULL, &got),
			 0);
	assert_ptr_equal(got, &id);
	assert_int_equal(dev.unacknowledged, 0);
}
