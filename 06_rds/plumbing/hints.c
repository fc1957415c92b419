/*
 * hints.c - what a failure of a socket means, and what to try
 */
#include "hints.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <netinet/in.h>
/* After it: of the two definitions of in6_addr, the first one counts. */
#include <linux/rds.h>

#include "ipv4.h"
#include "log.h"

/* What a failure means, and what to try. The first row that fits is taken; 0: any. */
static const struct {
	const char *call;
	int err;
	const char *hint;
} hints[] = {
	{ "socket", EAFNOSUPPORT,
	  "this kernel has no RDS, or has not loaded it; see scripts/setup_rds.sh --check [docs/troubleshooting.md#rds]" },
	{ "socket", 0,
	  "see \"ulimit -n\" for the number of descriptors allowed" },
	{ "SO_RDS_TRANSPORT", ENOPROTOOPT,
	  "the kernel has no such transport loaded; see scripts/setup_rds.sh --check [docs/troubleshooting.md#rds]" },
	{ "SO_RDS_TRANSPORT", 0,
	  "it takes RDS_TRANS_TCP or RDS_TRANS_IB, once, and before bind [docs/troubleshooting.md#rds-errors]" },
	{ "bind", EADDRINUSE,
	  "another RDS socket has this port; choose another with -p [docs/troubleshooting.md#address-in-use]" },
	{ "bind", EINVAL,
	  "it must be one address, not 0.0.0.0 and no multicast; and port 1 is the kernel's [docs/troubleshooting.md#rds-errors]" },
	{ "bind", 0,
	  "no transport, or not the one asked for, has this address; is it one of this machine's, and for ib one of its RDMA device's: see scripts/setup_rds.sh --status [docs/troubleshooting.md#rds-errors]" },
	{ "sendmsg", EMSGSIZE,
	  "a message must fit into the send buffer as a whole, and have at most 1 MiB; raise SO_SNDBUF or send less [docs/troubleshooting.md#rds-errors]" },
	{ "sendmsg", ENOTCONN,
	  "the socket is not bound; bind it first, to say which transport and which address it sends from [docs/troubleshooting.md#rds-errors]" },
	{ "sendmsg", ENOBUFS,
	  "the peer's port is congested: nobody reads it [docs/troubleshooting.md#rds-errors]" },
	{ "sendmsg", EAGAIN,
	  "the send buffer is full; or there is no connection over ib yet that memory could be registered for: ask again [docs/troubleshooting.md#rds-errors]" },
	{ "sendmsg", EOPNOTSUPP,
	  "this transport cannot do that; RDMA needs ib [docs/troubleshooting.md#rds-errors]" },
	{ "sendmsg", 0,
	  "is there a route to it: see `ip route` [docs/troubleshooting.md#rds-errors]" },
	{ NULL, 0,
	  "see rds(7) and rds-rdma(7) [docs/troubleshooting.md#rds-errors]" },
};

static const char *hint(const char *call, int err)
{
	size_t i = 0;

	while ((hints[i].call && strcmp(hints[i].call, call)) ||
	       (hints[i].err && hints[i].err != err))
		i++;
	return hints[i].hint;
}

int explain_call(const char *call, int err)
{
	return log_fail_errno(call, err, "%s", hint(call, err));
}

int explain_bind(const struct sockaddr_in *addr, int err)
{
	char text[IPV4_TEXT_SIZE];

	return log_fail_errno("bind", err, "%s port %d: %s",
			      ipv4_text(addr, text), ntohs(addr->sin_port),
			      hint("bind", err));
}

int explain_send(const struct sockaddr_in *to, size_t length, int err)
{
	char text[IPV4_TEXT_SIZE];

	return log_fail("sendmsg: %zu bytes to %s port %d: %s; %s", length,
			ipv4_text(to, text), ntohs(to->sin_port), strerror(err),
			hint("sendmsg", err));
}

int explain_long(const struct sockaddr_in *from, size_t size)
{
	char text[IPV4_TEXT_SIZE];

	return log_fail(
		"recvmsg: %s port %d has sent a datagram of more than %zu bytes; what did not fit is lost, so it is ignored: both ends must agree on a limit",
		ipv4_text(from, text), ntohs(from->sin_port), size);
}

const char *hint_status(int status)
{
	switch (status) {
	case RDS_RDMA_SUCCESS:
		return "success";
	case RDS_RDMA_REMOTE_ERROR:
		return "remote error: the key, the length or the access does not fit; the connection between the hosts has been reset for it";
	case RDS_RDMA_CANCELED:
		return "cancelled";
	case RDS_RDMA_DROPPED:
		return "dropped: the connection broke, and RDMA is not retried";
	default:
		return "another error";
	}
}
