/*
 * cm_help.c - the details of the connection manager, and its errors in words
 */
#include "cm_help.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "addr.h"
#include "log.h"

/* What to try if there is no event channel. */
static const char *channel_hint(int err)
{
	switch (err) {
	case ENODEV:
		return "is there an RDMA device (`rdma link`)? if not: sudo scripts/setup_rxe.sh, or use the lab: scripts/lab.sh shell [docs/troubleshooting.md#no-device]";
	case EMFILE:
	case ENFILE:
		return "see \"ulimit -n\"";
	default:
		return "may this user open /dev/infiniband/rdma_cm [docs/troubleshooting.md#permission]";
	}
}

void cm_explain_channel(int err)
{
	log_fail_errno("rdma_create_event_channel", err, "%s",
		       channel_hint(err));
}

int cm_resolve_ms(const struct patience *patience)
{
	return patience->timeout_ms < 4000 ? patience->timeout_ms / 2 : 2000;
}

/* Without this, the CM chooses 2 s, or 0.5 s since Linux 6.2. */
int cm_set_ack_timeout(struct rdma_cm_id *id, uint8_t timeout)
{
	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			    &timeout, sizeof(timeout)))
		return log_fail_errno("rdma_set_option", errno,
				      "is the kernel older than 5.1");
	return 0;
}

/* iWARP is RDMA over TCP, and needs more than RoCE and InfiniBand do. */
static bool is_iwarp(const struct ibv_context *verbs)
{
	return verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

bool cm_has_turns(const struct ibv_context *verbs)
{
	return is_iwarp(verbs);
}

int cm_read_access(const struct ibv_context *verbs)
{
	if (is_iwarp(verbs))
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	return IBV_ACCESS_LOCAL_WRITE;
}

bool cm_has_immediate(const struct ibv_context *verbs)
{
	return !is_iwarp(verbs);
}

/* Some of the reasons of a REJ: the IBTA specification, 12.6.7.2. */
enum {
	REJ_TIMEOUT = 4,
	REJ_INVALID_SERVICE_ID = 8,
	REJ_STALE_CONNECTION = 10,
	REJ_CONSUMER = 28
};

/*
 * What a REJ's reason means. Over iWARP, which has no such message, it is an
 * errno of the TCP connection.
 */
static const char *reject_meaning(int status)
{
	switch (status) {
	case -ECONNRESET:
		return "over iWARP, the server ended the TCP connection; see what it says, and give it its address with -a [docs/troubleshooting.md#iwarp]";
	case REJ_TIMEOUT:
		return "the peer gave up waiting for an answer";
	case REJ_INVALID_SERVICE_ID:
		return "no server listens on that port; start the server first, and compare -p on both ends [docs/troubleshooting.md#rejected]";
	case REJ_STALE_CONNECTION:
		return "the peer still knows an older connection of this queue pair; try again in a few seconds [docs/troubleshooting.md#rejected]";
	case REJ_CONSUMER:
		return "the server's program refused the connection; see what the server says [docs/troubleshooting.md#rejected]";
	default:
		return "the peer's CM refused; see the IBTA specification, 12.6.7.2, for the reason with this number [docs/troubleshooting.md#rejected]";
	}
}

static const char *addr_error_meaning(int status)
{
	switch (status) {
	case -ENODEV:
		return "no RDMA device on the way to that address; compare `ip route get` and `rdma link` [docs/troubleshooting.md#addr-error-19]";
	case -ETIMEDOUT:
		return "nobody has that address; compare -a with `ip addr` on the server [docs/troubleshooting.md#addr-error-110]";
	default:
		return "the address could not be bound to a device; may this user open /dev/infiniband/uverbs* [docs/troubleshooting.md#permission]";
	}
}

static const char *event_meaning(const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return addr_error_meaning(event->status);
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return "the address is known, but there is no RDMA path to it; compare `rdma link` on both ends";
	case RDMA_CM_EVENT_UNREACHABLE:
		return "the peer's host did not answer; is it up, and does UDP port 4791 pass the firewall [docs/troubleshooting.md#firewall]";
	case RDMA_CM_EVENT_REJECTED:
		return reject_meaning(event->status);
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return "the connection failed while it was being made; see what the peer says";
	case RDMA_CM_EVENT_DISCONNECTED:
		return "the peer disconnected or died before this step was done [docs/troubleshooting.md#left]";
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return "the RDMA device was removed; see `rdma link`";
	default:
		return "it does not belong here in this protocol";
	}
}

void cm_explain_event(const struct rdma_cm_event *event,
		      enum rdma_cm_event_type want)
{
	/* librdmacm sets -1, which is no errno, when it fails itself. */
	bool is_errno = event->status < -1;

	log_fail("waited for %s, got %s (status %d%s%s): %s",
		 rdma_event_str(want), rdma_event_str(event->event),
		 event->status, is_errno ? ", " : "",
		 is_errno ? strerror(-event->status) : "",
		 event_meaning(event));
}

/*
 * Whether only the port of addr is the problem. The CM does not always say so:
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

int cm_explain_bind(struct rdma_cm_id *id, const struct addrinfo *ai, int err)
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

int cm_take_ipv4(struct rdma_cm_id *id)
{
	int only = 0;

	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only,
			    sizeof(only)))
		return log_fail_errno("rdma_set_option", errno,
				      "IPv4 would not be taken");
	return 0;
}

int cm_explain_create(int err)
{
	return log_fail_errno(
		"rdma_create_id", err,
		"may this user open /dev/infiniband/rdma_cm [docs/troubleshooting.md#permission]");
}

int cm_explain_connect(int err)
{
	return log_fail_errno(
		"rdma_connect", err,
		err == ECONNREFUSED ?
			"over iWARP, no server listens there; start it first, with -a" :
			"does `rdma link` still show the device as ACTIVE");
}
