/*
 * rds.c - an RDS socket: datagrams that are not lost, doubled or reordered
 */
#include "rds.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hints.h"
#include "log.h"

const char *rds_transport_name(int transport)
{
	switch (transport) {
	case RDS_TRANS_IB:
		return "ib";
	case RDS_TRANS_TCP:
		return "tcp";
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
	return rds_set(rds, SO_RDS_TRANSPORT, "SO_RDS_TRANSPORT", &transport,
		       sizeof(transport));
}

static int bind_local(struct rds *rds)
{
	struct sockaddr *local = (struct sockaddr *)&rds->local;
	socklen_t length = sizeof(rds->local);

	if (bind(rds->fd, local, length))
		return explain_bind(&rds->local, errno);
	/* The kernel has found a port, if there was none. */
	if (getsockname(rds->fd, local, &length))
		return explain_call("getsockname", errno);
	return 0;
}

/* Which transport is it really? The kernel may have chosen another one. */
static int read_transport(struct rds *rds)
{
	socklen_t length = sizeof(rds->transport);

	if (getsockopt(rds->fd, SOL_RDS, SO_RDS_TRANSPORT, &rds->transport,
		       &length))
		return explain_call("getsockopt", errno);
	return 0;
}

int rds_open(struct rds *rds, const struct sockaddr_in *local, int transport)
{
	rds->local = *local;
	rds->fd = socket(PF_RDS, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (rds->fd < 0)
		return explain_call("socket", errno);
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

int rds_wait_room(struct rds *rds, int64_t deadline)
{
	return wait_writable(rds->fd, rds->patience.stop_fd, deadline);
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
	ssize_t n;

	*news = (struct rds_news){ 0 };
	n = recvmsg(rds->fd, &msg, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ?
			       0 :
			       explain_call("recvmsg", errno);
	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg); cmsg;
	     cmsg = CMSG_NXTHDR(&msg, cmsg))
		take_control(cmsg, news);
	/* News from the kernel itself has no sender. */
	news->datagram = news->from.sin_family == AF_INET;
	news->length = n;
	if (msg.msg_flags & MSG_TRUNC) {
		/* Anybody can send that, so it is no reason to stop. */
		explain_long(&news->from, size);
		news->datagram = false;
	}
	return 0;
}

int rds_set(struct rds *rds, int option, const char *name, const void *value,
	    socklen_t size)
{
	if (setsockopt(rds->fd, SOL_RDS, option, value, size))
		return explain_call(name, errno);
	return 0;
}

long rds_send_room(struct rds *rds)
{
	socklen_t length = sizeof(int);
	int bytes;

	if (getsockopt(rds->fd, SOL_SOCKET, SO_SNDBUF, &bytes, &length))
		return explain_call("getsockopt", errno);
	/* As for every socket, the kernel says twice the size; RDS uses half. */
	return bytes / 2;
}

long rds_shrink_room(struct rds *rds)
{
	int bytes = 1;

	if (setsockopt(rds->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)))
		return explain_call("SO_SNDBUF", errno);
	return rds_send_room(rds);
}
