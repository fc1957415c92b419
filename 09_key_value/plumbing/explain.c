/*
 * explain.c - what a failure means, and what to try
 */
#include "explain.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "addr.h"
#include "log.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PERMITTED \
	"may this user open /dev/infiniband/rdma_cm [docs/troubleshooting.md#permission]"
#define LOCKED \
	"this memory is locked, and `ulimit -l` says how much of it a process may have [docs/troubleshooting.md#memlock]"
#define DESCRIPTORS "see \"ulimit -n\" for the number of descriptors allowed"

/* The first row that fits is taken. NULL: any call; 0: any errno. */
static const struct {
	const char *call;
	int err;
	const char *hint;
} calls[] = {
	{ NULL, EMFILE, DESCRIPTORS },
	{ NULL, ENFILE, DESCRIPTORS },
	{ "rdma_create_event_channel", ENODEV,
	  "is there an RDMA device (`rdma link`)? if not: sudo scripts/setup_rxe.sh, or use the lab: scripts/lab.sh shell [docs/troubleshooting.md#no-device]" },
	{ "rdma_create_event_channel", 0, PERMITTED },
	{ "rdma_create_id", 0, PERMITTED },
	{ "rdma_ack_cm_event", 0, "rdma_destroy_id() would now hang" },
	{ "rdma_destroy_id", 0, "it is lost" },
	{ "rdma_listen", 0, "give another port with -p" },
	{ "rdma_resolve_addr", 0,
	  "compare -a with `ip addr` on the server and `rdma link` here" },
	{ "rdma_resolve_route", 0, "compare `rdma link` on both ends" },
	{ "rdma_set_option", 0, "is the kernel older than 5.1" },
	{ "rdma_migrate_id", 0, "this client is not served" },
	{ "rdma_create_qp", 0,
	  "did the peer give up in the meantime? if not, see `rdma resource show`" },
	{ "rdma_accept", 0, "did the client give up in the meantime" },
	{ "rdma_connect", ECONNREFUSED,
	  "over iWARP, no server listens there; start it first, with -a" },
	{ "rdma_connect", 0,
	  "does `rdma link` still show the device as ACTIVE" },
	{ "rdma_disconnect", 0, "the connection is closed anyway" },
	{ "ibv_reg_mr", ENOMEM, LOCKED },
	{ "ibv_reg_mr", EPERM, LOCKED },
	{ "ibv_dereg_mr", 0, "its memory is not freed" },
	{ "ibv_dealloc_pd", 0, "does a memory region of it still exist" },
	{ "ibv_post_send", 0,
	  "are more posted than max_send_wr [docs/troubleshooting.md#post]" },
	{ "ibv_post_recv", 0,
	  "are more posted than max_recv_wr [docs/troubleshooting.md#post]" },
	{ NULL, 0, "see `rdma link` and `rdma resource show`" },
};

static const char *hint(const char *call, int err)
{
	size_t i = 0;

	while ((calls[i].call && strcmp(calls[i].call, call)) ||
	       (calls[i].err && calls[i].err != err))
		i++;
	return calls[i].hint;
}

int explain_call(const char *call, int err)
{
	return log_fail_errno(call, err, "%s", hint(call, err));
}

int explain_memory(size_t size, int err)
{
	return log_fail_errno("ibv_reg_mr", err, "%zu bytes: %s", size,
			      hint("ibv_reg_mr", err));
}

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
	for (size_t i = 0; i < COUNT(events); i++)
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

static const char *const statuses[] = {
	[IBV_WC_LOC_LEN_ERR] =
		"a message was longer than the receive posted for it; post larger receives or send less [docs/troubleshooting.md#status-1]",
	[IBV_WC_LOC_QP_OP_ERR] =
		"the local device could not carry out the request; for a receive: is it as long as the message, and may its region be written [docs/troubleshooting.md#status-2]",
	[IBV_WC_LOC_PROT_ERR] =
		"the request names memory that its lkey does not cover; compare address, length and lkey [docs/troubleshooting.md#status-4]",
	[IBV_WC_WR_FLUSH_ERR] =
		"the queue pair went to the error state with this request still posted; look for what failed first, here or on the peer [docs/troubleshooting.md#status-5]",
	[IBV_WC_REM_INV_REQ_ERR] =
		"the peer refused the request as invalid; a message longer than its receive, or an operation that its queue pair does not allow [docs/troubleshooting.md#status-9]",
	[IBV_WC_REM_ACCESS_ERR] =
		"the peer's memory region does not allow this; compare rkey, address, length and access flags [docs/troubleshooting.md#status-10]",
	[IBV_WC_REM_OP_ERR] =
		"the peer could not complete the operation; look at what the peer says [docs/troubleshooting.md#status-11]",
	[IBV_WC_RETRY_EXC_ERR] =
		"the peer did not acknowledge, however often it was asked; is it alive, is its address right, do packets reach it (UDP port 4791) [docs/troubleshooting.md#status-12]",
	[IBV_WC_RNR_RETRY_EXC_ERR] =
		"the peer was reached but had no receive posted; post receives before the other side may send [docs/troubleshooting.md#status-13]",
};

int explain_completion(const char *what, const struct ibv_wc *wc)
{
	const char *meaning = NULL;

	if (wc->status < COUNT(statuses))
		meaning = statuses[wc->status];
	if (!meaning)
		meaning =
			"see ibv_poll_cq(3) and the IBTA specification, 11.6.2";
	return log_fail("%s: status %d (%s): %s", what, wc->status,
			ibv_wc_status_str(wc->status), meaning);
}
