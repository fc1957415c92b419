/*
 * test_01_explain_cm.c - what is said of an event that nobody waits for: many need a
 * subnet manager, iWARP, or a minute and a half to come by themselves
 */
#include "explain_cm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

static const struct {
	enum rdma_cm_event_type event;
	int status;
	const char *named, *meaning;
} surprises[] = {
#define EVENT(name, status, named, meaning)                                   \
	{                                                                     \
		RDMA_CM_EVENT_##name, status,                                 \
			"RDMA_CM_EVENT_" #name " (status " named ")", meaning \
	}
	EVENT(REJECTED, 8, "8", "no server listens"),
	EVENT(REJECTED, 28, "28", "program refused"),
	EVENT(REJECTED, 10, "10", "older connection"),
	EVENT(REJECTED, 4, "4", "gave up"),
	EVENT(REJECTED, -ECONNRESET, "-104, Connection reset by peer",
	      "over iWARP, the server ended the TCP connection"),
	EVENT(REJECTED, 33, "33", "12.6.7.2"),
	EVENT(ADDR_ERROR, -ETIMEDOUT, "-110, Connection timed out",
	      "nobody has that address"),
	EVENT(ADDR_ERROR, -ENODEV, "-19, No such device", "no RDMA device"),
	EVENT(ADDR_ERROR, -1, "-1", "uverbs"),
	EVENT(ROUTE_ERROR, -EHOSTUNREACH, "-113, No route to host", "path"),
	EVENT(UNREACHABLE, -ETIMEDOUT, "-110, Connection timed out", "4791"),
	EVENT(CONNECT_ERROR, -EINVAL, "-22, Invalid argument", "failed"),
	/* What librdmacm says when it could not move the QP itself. */
	EVENT(CONNECT_ERROR, -1, "-1", "failed"),
	EVENT(DEVICE_REMOVAL, 0, "0", "removed"),
	EVENT(TIMEWAIT_EXIT, 0, "0", "protocol"),
	EVENT(ESTABLISHED, 0, "0", "protocol"),
};

/* Both events, the status and its meaning in one line. */
TEST(named)
{
	for (size_t i = 0; i < sizeof(surprises) / sizeof(*surprises); i++) {
		struct rdma_cm_event event = {
			.event = surprises[i].event,
			.status = surprises[i].status,
		};
		char part[256];
		int ret = CAPTURED(
			explain_event(&event, RDMA_CM_EVENT_DISCONNECTED));

		assert_int_equal(ret, -1);
		snprintf(part, sizeof(part),
			 "error: waited for RDMA_CM_EVENT_DISCONNECTED, got "
			 "%s: ",
			 surprises[i].named);
		assert_one_line(said.err, part);
		assert_non_null(
			strstr(said.err + strlen(part), surprises[i].meaning));
	}
}

/* While messages are waited for, what the CM says ends that, in one line. */
TEST(news)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_TIMEWAIT_EXIT };

	assert_int_equal(CAPTURED(explain_news(&event)), -1);
	assert_one_line(said.err, "error: the peer left, and what is");
	event.event = RDMA_CM_EVENT_DEVICE_REMOVAL;
	assert_int_equal(CAPTURED(explain_news(&event)), -1);
	assert_one_line(said.err, "REMOVAL in the middle of the conversation");
}
