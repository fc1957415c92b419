/*
 * explain_cm.c - what the connection manager reports, and what to try
 */
#include "explain_cm.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "addr.h"
#include "explain.h"
#include "log.h"

int explain_route(const struct addrinfo *ai, int err)
{
	return err == ENODEV ? addr_explain_no_device(ai->ai_addr) :
			       explain_call("rdma_resolve_route", err);
}

/*
 * Whether only the port of ai is the problem. The CM does not always say so:
 * while a server listens on all addresses, binding its port on one of them
 * gives EADDRNOTAVAIL. The call here is no step of listening, but a question
 * about one that failed.
 */
static bool port_is_taken(struct rdma_cm_id *id, const struct addrinfo *ai)
{
	struct sockaddr_storage any_port = { 0 };

	memcpy(&any_port, ai->ai_addr, ai->ai_addrlen);
	/* The port is in the same place in an IPv4 and an IPv6 address. */
	((struct sockaddr_in *)&any_port)->sin_port = 0;
	return !rdma_bind_addr(id, (struct sockaddr *)&any_port);
}

int explain_bind(struct rdma_cm_id *id, const struct addrinfo *ai, int err)
{
	char text[ADDR_TEXT_SIZE];

	addr_text(ai->ai_addr, text);
	if (err == EADDRINUSE || port_is_taken(id, ai))
		return log_fail_errno(
			"rdma_bind_addr", err,
			"another program has this port of %s; give another with -p [docs/troubleshooting.md#address-in-use]",
			text);
	return log_fail_errno(
		"rdma_bind_addr", err,
		"is %s an address of this machine that an RDMA device sits on (`rdma link`) [docs/troubleshooting.md#cannot-assign]",
		text);
}

/*
 * The status of REJECTED is a REJ's reason: the IBTA specification, 12.6.7.2.
 * Over iWARP, which has no such message, it is an errno of the TCP connection.
 */
static const struct {
	enum rdma_cm_event_type type;
	int status; /* 0: any */
	const char *meaning;
} events[] = {
	{ RDMA_CM_EVENT_ADDR_ERROR, -ENODEV,
	  "no RDMA device on the way to that address; compare `ip route get` and `rdma link` [docs/troubleshooting.md#addr-error-19]" },
	{ RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT,
	  "nobody has that address; compare -a with `ip addr` on the server [docs/troubleshooting.md#addr-error-110]" },
	{ RDMA_CM_EVENT_ADDR_ERROR, 0,
	  "the address could not be bound to a device; may this user open /dev/infiniband/uverbs* [docs/troubleshooting.md#permission]" },
	{ RDMA_CM_EVENT_ROUTE_ERROR, 0,
	  "the address is known, but there is no RDMA path to it; compare `rdma link` on both ends" },
	{ RDMA_CM_EVENT_UNREACHABLE, 0,
	  "the peer's host did not answer; is it up, and does UDP port 4791 pass the firewall [docs/troubleshooting.md#firewall]" },
	{ RDMA_CM_EVENT_REJECTED, -ECONNRESET,
	  "over iWARP, the server ended the TCP connection; see what it says, and give it its address with -a [docs/troubleshooting.md#iwarp]" },
	{ RDMA_CM_EVENT_REJECTED, 4, "the peer gave up waiting for an answer" },
	{ RDMA_CM_EVENT_REJECTED, 8,
	  "no server listens on that port; start the server first, and compare -p on both ends [docs/troubleshooting.md#rejected]" },
	{ RDMA_CM_EVENT_REJECTED, 10,
	  "the peer still knows an older connection of this queue pair; try again in a few seconds [docs/troubleshooting.md#rejected]" },
	{ RDMA_CM_EVENT_REJECTED, 28,
	  "the server's program refused the connection; see what the server says [docs/troubleshooting.md#rejected]" },
	{ RDMA_CM_EVENT_REJECTED, 0,
	  "the peer's CM refused; see the IBTA specification, 12.6.7.2, for the reason with this number [docs/troubleshooting.md#rejected]" },
	{ RDMA_CM_EVENT_CONNECT_ERROR, 0,
	  "the connection failed while it was being made; see what the peer says" },
	{ RDMA_CM_EVENT_DISCONNECTED, 0,
	  "the peer disconnected or died before this step was done [docs/troubleshooting.md#left]" },
	{ RDMA_CM_EVENT_DEVICE_REMOVAL, 0,
	  "the RDMA device was removed; see `rdma link`" },
};

static const char *event_meaning(const struct rdma_cm_event *event)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].type == event->event &&
		    (!events[i].status || events[i].status == event->status))
			return events[i].meaning;
	return "it does not belong here in this protocol";
}

int explain_event(const struct rdma_cm_event *event,
		  enum rdma_cm_event_type want)
{
	/* librdmacm sets -1, which is no errno, when it fails itself. */
	bool is_errno = event->status < -1;

	return log_fail("waited for %s, got %s (status %d%s%s): %s",
			rdma_event_str(want), rdma_event_str(event->event),
			event->status, is_errno ? ", " : "",
			is_errno ? strerror(-event->status) : "",
			event_meaning(event));
}

int explain_news(const struct rdma_cm_event *event)
{
	/* Even late packets are gone by now, and all was flushed earlier. */
	if (event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return log_fail(
			"the peer left, and what is waited for can no longer come; was it ever posted [docs/troubleshooting.md#left]");
	return log_fail(
		"%s in the middle of the conversation; see what the peer says, and `rdma link`",
		rdma_event_str(event->event));
}
