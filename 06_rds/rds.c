/*
 * rds.c - an RDS socket: datagrams that are not lost, doubled or reordered
 */
#include "rds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hints.h"
#include "ipv4.h"
#include "log.h"

/* ---- What is in our datagrams ---- */

_Static_assert(sizeof(struct dgram) == 12, "no gaps on the wire");

size_t dgram_fill(struct dgram *dgram, enum dgram_type type, uint32_t number,
		  const char *text)
{
	size_t length = strnlen(text, DGRAM_TEXT_MAX);

	memcpy(dgram->magic, "RDS6", sizeof(dgram->magic));
	dgram->type = htons(type);
	dgram->zero = 0;
	dgram->number = htonl(number);
	memcpy(dgram->text, text, length);
	return DGRAM_HEADER + length;
}

int dgram_check(const struct dgram *dgram, size_t length)
{
	int type;

	if (length < DGRAM_HEADER || memcmp(dgram->magic, "RDS6", 4))
		return log_fail(
			"a datagram of %zu bytes that does not begin with a header of %d, and RDS6; is it another program",
			length, DGRAM_HEADER);
	type = ntohs(dgram->type);
	if (!type || type >= DGRAM_TYPE_END || dgram->zero)
		return log_fail(
			"a datagram of type %d: there is none; build both ends from the same source",
			type);
	/* The others may have any length, because nobody prints them. */
	if (length > DGRAM_HEADER + DGRAM_TEXT_MAX && type != DGRAM_NUMBERED &&
	    type != DGRAM_ECHO && type != DGRAM_BYE)
		return log_fail(
			"a datagram of type %d with %zu bytes of text: %d are the most; is it another program",
			type, length - DGRAM_HEADER, DGRAM_TEXT_MAX);
	return type;
}

/* ---- Open ---- */

const char *rds_transport_name(int transport)
{
	/* 127.0.0.1 is on one of its own, which has no number here. */
	return transport == RDS_TRANS_IB  ? "ib" :
	       transport == RDS_TRANS_TCP ? "tcp" :
					    "another transport";
}

int rds_set(struct rds *rds, int option, const char *name, const void *value,
	    socklen_t size)
{
	if (setsockopt(rds->fd, SOL_RDS, option, value, size))
		return explain_call(name, errno);
	return 0;
}

static int bind_local(struct rds *rds)
{
	struct sockaddr *local = (struct sockaddr *)&rds->local;
	socklen_t length = sizeof(rds->local), size = sizeof(rds->transport);

	if (bind(rds->fd, local, length))
		return explain_bind(&rds->local, errno);
	/* The kernel has found a port, if there was none. */
	if (getsockname(rds->fd, local, &length))
		return explain_call("getsockname", errno);
	/* Which transport is it really? The kernel may have chosen one. */
	if (getsockopt(rds->fd, SOL_RDS, SO_RDS_TRANSPORT, &rds->transport,
		       &size))
		return explain_call("getsockopt", errno);
	return 0;
}

int rds_open(struct rds *rds, const struct sockaddr_in *local, int transport)
{
	static const int transports[] = { RDS_TRANS_TCP, RDS_TRANS_IB };
	int on = 1;

	rds->local = *local;
	rds->status = -1;
	rds->in = malloc(DGRAM_MAX);
	rds->out = malloc(DGRAM_MAX);
	if (!rds->in || !rds->out)
		return log_fail("no memory for two datagrams of %d bytes",
				DGRAM_MAX);
	rds->fd = socket(PF_RDS, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (rds->fd < 0)
		return explain_call("socket", errno);
	/* May be done once, and before bind(2), which would choose by itself. */
	if (transport >= 0 &&
	    rds_set(rds, SO_RDS_TRANSPORT, "SO_RDS_TRANSPORT",
		    &transports[transport], sizeof(transports[0])))
		return -1;
	if (bind_local(rds))
		return -1;
	/* Without this, no news would say which port's congestion has ended. */
	return rds_set(rds, RDS_CONG_MONITOR, "RDS_CONG_MONITOR", &on,
		       sizeof(on));
}

void rds_close(struct rds *rds)
{
	/* This throws away what is still queued for sending. */
	if (rds->fd >= 0)
		close(rds->fd);
	rds->fd = -1;
	free(rds->in);
	free(rds->out);
}

/* ---- One call of sendmsg(2), and one of recvmsg(2) ---- */

int rds_try(struct rds *rds, const struct sockaddr_in *to, const void *buf,
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

/* One control message of recvmsg(2). */
static void take_control(struct rds *rds, const struct cmsghdr *cmsg)
{
	size_t size = cmsg->cmsg_len - CMSG_LEN(0);
	const void *data = CMSG_DATA(cmsg);
	struct rds_rdma_notify completion;

	if (cmsg->cmsg_level != SOL_RDS)
		return;
	if (cmsg->cmsg_type == RDS_CMSG_RDMA_DEST &&
	    size >= sizeof(rds->news.key))
		memcpy(&rds->news.key, data, sizeof(rds->news.key));
	if (cmsg->cmsg_type == RDS_CMSG_CONG_UPDATE &&
	    size >= sizeof(rds->news.ports))
		memcpy(&rds->news.ports, data, sizeof(rds->news.ports));
	if (cmsg->cmsg_type == RDS_CMSG_RDMA_STATUS &&
	    size >= sizeof(completion)) {
		memcpy(&completion, data, sizeof(completion));
		rds->status = completion.status;
	}
}

int rds_take(struct rds *rds)
{
	/* Room for one completion: then the kernel brings one at a time. */
	char space[CMSG_SPACE(sizeof(struct rds_rdma_notify))]
		__attribute__((aligned(__alignof__(struct cmsghdr))));
	struct iovec iov = { .iov_base = rds->in, .iov_len = DGRAM_MAX };
	struct rds_news *news = &rds->news;
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
		take_control(rds, cmsg);
	/* News from the kernel itself has no sender. */
	news->datagram = news->from.sin_family == AF_INET;
	news->length = n;
	if (msg.msg_flags & MSG_TRUNC) {
		/* Anybody can send that, so it is no reason to stop. */
		explain_long(&news->from, DGRAM_MAX);
		news->datagram = false;
	}
	return 0;
}

/* ---- The same, and the waiting ---- */

int64_t rds_deadline(const struct rds *rds)
{
	return wait_deadline(rds->patience.timeout_ms);
}

int rds_wait(struct rds *rds, const char *what, int64_t deadline)
{
	if (wait_readable(rds->fd, -1, rds->patience.stop_fd, deadline) < 0)
		return wait_fail(what, errno, &rds->patience);
	return rds_take(rds);
}

/* Waits until the kernel says that a port may have room again. */
static int wait_uncongested(struct rds *rds, int port, int64_t deadline)
{
	if (!rds->congested)
		log_line("ENOBUFS: port %d is congested.", port);
	do {
		if (rds_wait(rds, "the end of a congestion", deadline))
			return -1;
	} while (!(rds->news.ports & RDS_CONG_MONITOR_MASK(port)));
	if (!rds->congested)
		log_line("news: ports of group %d may have room again.",
			 port % 64);
	rds->congested = true;
	return 0;
}

int rds_send(struct rds *rds, const struct sockaddr_in *to, const void *buf,
	     size_t length, const struct rds_control *control)
{
	int64_t deadline = rds_deadline(rds);

	while (rds_try(rds, to, buf, length, control)) {
		if (errno == ENOBUFS) {
			if (wait_uncongested(rds, ntohs(to->sin_port),
					     deadline))
				return -1;
		} else if (errno != EAGAIN) {
			return explain_send(to, length, errno);
		} else if (wait_writable(rds->fd, rds->patience.stop_fd,
					 deadline)) {
			return wait_fail("room in the send buffer", errno,
					 &rds->patience);
		}
	}
	return 0;
}

int rds_expect(struct rds *rds, const struct sockaddr_in *peer,
	       enum dgram_type type, const char *what)
{
	int64_t deadline = rds_deadline(rds);
	int came;

	/* Anybody may send to our port, and makes the deadline no later. */
	do {
		if (rds_wait(rds, what, deadline))
			return -1;
	} while (!rds->news.datagram || !ipv4_same(&rds->news.from, peer));
	came = type ? dgram_check(rds->in, rds->news.length) : 0;
	if (came >= 0 && came != (int)type)
		return log_fail("%s: a datagram of type %d came instead of %d",
				what, came, type);
	return came < 0 ? -1 : 0;
}

int rds_ask(struct rds *rds, const struct sockaddr_in *peer,
	    enum dgram_type type, const char *text, enum dgram_type answer,
	    const char *what)
{
	size_t length = dgram_fill(rds->out, type, 0, text);

	if (rds_send(rds, peer, rds->out, length, NULL))
		return -1;
	return rds_expect(rds, peer, answer, what);
}

/*
 * Port 0 belongs to the kernel, which answers with an empty datagram from port
 * 0. Over tcp, the two kernels agree before that answer on their number of
 * paths, and so on the one that our messages take; later messages may overtake
 * what was sent before that.
 */
int rds_greet(struct rds *rds, const struct sockaddr_in *peer)
{
	struct sockaddr_in kernel = *peer;
	char text[IPV4_TEXT_SIZE];

	kernel.sin_port = 0;
	if (rds_send(rds, &kernel, NULL, 0, NULL) ||
	    rds_expect(rds, &kernel, DGRAM_NONE,
		       "an answer of the other kernel"))
		return -1;
	log_line("%s is there.", ipv4_text(&kernel, text));
	return 0;
}
