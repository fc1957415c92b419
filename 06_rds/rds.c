/*
 * rds.c - an RDS socket: datagrams that are not lost, doubled or reordered
 */
#include "rds.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipv4.h"
#include "log.h"

const char *rds_transport_name(int transport)
{
	switch (transport) {
	case RDS_TRANS_IB:
		return "ib";
	case RDS_TRANS_TCP:
		return "tcp";
	case (int)RDS_TRANS_NONE:
		return "none";
	default:
		/* 127.0.0.1 is on one of its own, which has no number here. */
		return "another transport";
	}
}

/* May be done once, and before bind(2): bind would choose by itself. */
static int choose_transport(struct rds *rds, int transport)
{
	if (transport == (int)RDS_TRANS_NONE)
		return 0;
	if (!setsockopt(rds->fd, SOL_RDS, SO_RDS_TRANSPORT, &transport,
			sizeof(transport)))
		return 0;
	if (errno == ENOPROTOOPT)
		return log_fail(
			"SO_RDS_TRANSPORT: the kernel has no transport %s loaded; see scripts/setup_rds.sh --check [docs/troubleshooting.md#rds]",
			rds_transport_name(transport));
	return log_fail_errno(
		"SO_RDS_TRANSPORT", errno,
		"it takes RDS_TRANS_TCP or RDS_TRANS_IB, once, and before bind [docs/troubleshooting.md#rds-errors]");
}

static int bind_local(struct rds *rds)
{
	socklen_t length = sizeof(rds->local);
	char text[IPV4_TEXT_SIZE];

	ipv4_text(&rds->local, text);
	if (!bind(rds->fd, (struct sockaddr *)&rds->local, length)) {
		/* The kernel has found a port, if there was none. */
		if (getsockname(rds->fd, (struct sockaddr *)&rds->local,
				&length))
			return log_fail_errno("getsockname", errno,
					      "cannot go on");
		return 0;
	}
	if (errno == EADDRNOTAVAIL || errno == ENOPROTOOPT)
		return log_fail_errno(
			"bind", errno,
			"no transport, or not the one asked for, has the address %s; is it one of this machine's, and for ib one of its RDMA device's: see scripts/setup_rds.sh --status [docs/troubleshooting.md#rds-errors]",
			text);
	if (errno == EADDRINUSE)
		return log_fail_errno(
			"bind", errno,
			"another RDS socket has port %d of %s; choose another with -p [docs/troubleshooting.md#address-in-use]",
			ntohs(rds->local.sin_port), text);
	return log_fail_errno(
		"bind", errno,
		"%s must be one address of this machine's, not 0.0.0.0 and no multicast; and port %d must not be 1, which is the kernel's [docs/troubleshooting.md#rds-errors]",
		text, ntohs(rds->local.sin_port));
}

/* Which transport is it really? The kernel may have chosen another one. */
static int read_transport(struct rds *rds)
{
	socklen_t length = sizeof(rds->transport);

	if (getsockopt(rds->fd, SOL_RDS, SO_RDS_TRANSPORT, &rds->transport,
		       &length))
		return log_fail_errno("SO_RDS_TRANSPORT", errno,
				      "cannot read it back");
	return 0;
}

int rds_open(struct rds *rds, const struct sockaddr_in *local, int transport)
{
	rds->local = *local;
	rds->fd = socket(PF_RDS, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (rds->fd < 0 && errno == EAFNOSUPPORT)
		return log_fail(
			"socket: this kernel has no RDS, or has not loaded it; see scripts/setup_rds.sh --check [docs/troubleshooting.md#rds]");
	if (rds->fd < 0)
		return log_fail_errno("socket", errno, "cannot go on");
	if (choose_transport(rds, transport))
		return -1;
	if (bind_local(rds))
		return -1;
	return read_transport(rds);
}

void rds_close(struct rds *rds)
{
	/* This throws away what is still queued for sending. */
	if (rds->fd >= 0)
		close(rds->fd);
	rds->fd = -1;
}

int rds_send(struct rds *rds, const struct sockaddr_in *to, const void *buf,
	     size_t length, const struct rds_control *control)
{
	char space[CMSG_SPACE(RDS_CONTROL_MAX)]
		__attribute__((aligned(__alignof__(struct cmsghdr)))) = { 0 };
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = length };
	struct msghdr msg = {
		.msg_name = (void *)to,
		.msg_namelen = sizeof(*to),
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	struct cmsghdr *cmsg;

	if (control) {
		msg.msg_control = space;
		msg.msg_controllen = CMSG_SPACE(control->size);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_RDS;
		cmsg->cmsg_type = control->type;
		cmsg->cmsg_len = CMSG_LEN(control->size);
		memcpy(CMSG_DATA(cmsg), control->data, control->size);
	}
	/* The kernel takes a datagram whole or not at all: no short writes. */
	return sendmsg(rds->fd, &msg, MSG_DONTWAIT) < 0 ? -1 : 0;
}

/* What is wrong, and what to try, for an errno of sendmsg(2). */
static const char *send_hint(int err)
{
	switch (err) {
	case EMSGSIZE:
		return "a message must fit into the send buffer as a whole, and have at most 1 MiB; raise SO_SNDBUF or send less";
	case ENOTCONN:
		return "the socket is not bound; bind it first, to say which transport and which address it sends from";
	case EAGAIN:
		return "the send buffer is full: what was sent before has not been acknowledged; wait for POLLOUT";
	case ENOBUFS:
		return "the peer's port is congested: nobody reads it; wait for the congestion to end";
	case EOPNOTSUPP:
		return "this transport cannot do that; RDMA needs ib";
	default:
		return "is there a route to it: see `ip route`";
	}
}

int rds_send_fail(int err, const struct sockaddr_in *to, size_t length)
{
	char text[IPV4_TEXT_SIZE];

	return log_fail(
		"sendmsg: %zu bytes to %s port %d: %s; %s [docs/troubleshooting.md#rds-errors]",
		length, ipv4_text(to, text), ntohs(to->sin_port), strerror(err),
		send_hint(err));
}

/* One control message of recvmsg(2) into news. */
static void take_control(const struct cmsghdr *cmsg, struct rds_news *news)
{
	size_t size = cmsg->cmsg_len - CMSG_LEN(0);
	const void *data = CMSG_DATA(cmsg);

	if (cmsg->cmsg_level != SOL_RDS)
		return;
	if (cmsg->cmsg_type == RDS_CMSG_RDMA_DEST && size >= sizeof(news->key))
		memcpy(&news->key, data, sizeof(news->key));
	if (cmsg->cmsg_type == RDS_CMSG_CONG_UPDATE &&
	    size >= sizeof(news->ports))
		memcpy(&news->ports, data, sizeof(news->ports));
	if (cmsg->cmsg_type == RDS_CMSG_RDMA_STATUS &&
	    size >= sizeof(news->completion)) {
		memcpy(&news->completion, data, sizeof(news->completion));
		news->completed = true;
	}
}

int rds_recv(struct rds *rds, void *buf, size_t size, struct rds_news *news)
{
	/* Room for one completion: then the kernel brings one at a time. */
	char space[CMSG_SPACE(sizeof(struct rds_rdma_notify))]
		__attribute__((aligned(__alignof__(struct cmsghdr))));
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	struct msghdr msg = {
		.msg_name = &news->from,
		.msg_namelen = sizeof(news->from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	char text[IPV4_TEXT_SIZE];
	ssize_t n;

	*news = (struct rds_news){ 0 };
	n = recvmsg(rds->fd, &msg, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return log_fail_errno("recvmsg", errno, "cannot go on");
	if (msg.msg_flags & MSG_TRUNC) {
		/* Anybody can send that, so it is no reason to stop. */
		log_fail(
			"recvmsg: %s port %d has sent a datagram of more than %zu bytes; what did not fit is lost, so it is ignored: both ends must agree on a limit",
			ipv4_text(&news->from, text),
			ntohs(news->from.sin_port), size);
		return 0;
	}
	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg); cmsg;
	     cmsg = CMSG_NXTHDR(&msg, cmsg))
		take_control(cmsg, news);
	/* News from the kernel itself has no sender. */
	news->datagram = news->from.sin_family == AF_INET;
	news->length = n;
	return 0;
}

int rds_set(struct rds *rds, int option, const char *name, const void *value,
	    socklen_t size)
{
	if (!setsockopt(rds->fd, SOL_RDS, option, value, size))
		return 0;
	if (errno == EOPNOTSUPP)
		return log_fail_errno(
			name, errno,
			"over %s there is none: it needs the transport ib, and a peer that this socket has sent to [docs/troubleshooting.md#rds-errors]",
			rds_transport_name(rds->transport));
	return log_fail_errno(
		name, errno,
		"see rds(7) and rds-rdma(7) [docs/troubleshooting.md#rds-errors]");
}

long rds_send_room(struct rds *rds)
{
	socklen_t length = sizeof(int);
	int bytes;

	if (getsockopt(rds->fd, SOL_SOCKET, SO_SNDBUF, &bytes, &length))
		return log_fail_errno("SO_SNDBUF", errno, "cannot read it");
	/*
	 * As for every socket, the kernel reports twice the size; RDS uses
	 * half.
	 */
	return bytes / 2;
}

long rds_shrink_room(struct rds *rds)
{
	int bytes = 1;

	if (setsockopt(rds->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)))
		return log_fail_errno("SO_SNDBUF", errno, "cannot set it");
	return rds_send_room(rds);
}
