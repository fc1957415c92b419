/*
 * test_03_events.c - asynchronous events, of which rxe has few: each is named in a line, and
 * acknowledged
 */
#include "event_help.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

#define ALL (IBV_EVENT_WQ_FATAL + 1)

static struct ibv_qp qp = { .qp_num = 0x11 };
static int type, acknowledged;

int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event)
{
	(void)context;
	event->event_type = type;
	if ((type >= IBV_EVENT_PORT_ACTIVE && type <= IBV_EVENT_SM_CHANGE) ||
	    type == IBV_EVENT_CLIENT_REREGISTER || type == IBV_EVENT_GID_CHANGE)
		event->element.port_num = 3;
	else
		event->element.qp = &qp;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	assert_int_equal(event->event_type, type);
	acknowledged++;
}

/* What is said of them, behind "[async] ". */
static const char *const named[ALL] = {
	[IBV_EVENT_PORT_ERR] = "port error (port_num 3)",
	[IBV_EVENT_PORT_ACTIVE] = "port active (port_num 3)",
	[IBV_EVENT_GID_CHANGE] = "GID table change (port_num 3)",
	[IBV_EVENT_LID_CHANGE] = " (port_num 3)",
	[IBV_EVENT_PKEY_CHANGE] = " (port_num 3)",
	[IBV_EVENT_SM_CHANGE] = " (port_num 3)",
	[IBV_EVENT_CLIENT_REREGISTER] = " (port_num 3)",
	[IBV_EVENT_QP_FATAL] =
		"local work queue catastrophic error (QPN 0x000011)",
	[IBV_EVENT_QP_REQ_ERR] = " (QPN 0x000011)",
	[IBV_EVENT_COMM_EST] = "communication established (QPN 0x000011)",
	[IBV_EVENT_SQ_DRAINED] = " (QPN 0x000011)",
	[IBV_EVENT_PATH_MIG] = " (QPN 0x000011)",
	[IBV_EVENT_PATH_MIG_ERR] = " (QPN 0x000011)",
	[IBV_EVENT_QP_LAST_WQE_REACHED] = " (QPN 0x000011)",
	[IBV_EVENT_QP_ACCESS_ERR] =
		"local access violation work queue error (QPN 0x000011)",
	[IBV_EVENT_DEVICE_FATAL] = "local catastrophic error\n",
};

TEST(every_type)
{
	for (type = 0; type < ALL; type++) {
		int ret = CAPTURED(event_take(NULL));

		assert_int_equal(ret, 0);
		assert_string_equal(said.err, "");
		assert_one_line(said.out, "[async] ");
		if (named[type])
			assert_one_line(said.out, named[type]);
		else
			assert_null(strchr(said.out, '('));
	}
	assert_int_equal(acknowledged, ALL);
}
