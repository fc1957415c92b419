/*
 * retry.c - what to wait for when the kernel does not accept a message yet
 *
 * sendmsg(2) has one errno for two things. EAGAIN may mean that the send buffer
 * is full; then poll(2) says when to try again. Or it means that the kernel has
 * memory to register, with a request on the connection's queue pair, but that
 * there is no queue pair; then poll(2) says POLLOUT at once, each time. (If
 * there is one, but it is not connected yet, EINVAL means the same.)
 */
#include "retry.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "ipv4.h"
#include "log.h"

int retry_wait_room(struct rds *rds, const struct patience *patience,
		    int64_t deadline)
{
	return wait_writable(rds->fd, patience->stop_fd, deadline);
}

bool retry_may(int err, bool lends)
{
	return err == EAGAIN || (lends && err == EINVAL);
}

/* Whether the buffer has room now, so that EAGAIN must mean something else. */
static bool has_room(struct rds *rds)
{
	struct pollfd fd = { .fd = rds->fd, .events = POLLOUT };

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLOUT;
}

/* An empty datagram, from port 0 of the host that was asked. */
static bool is_pong(const struct rds_news *news, const struct sockaddr_in *host)
{
	return news->datagram && news->length == 0 &&
	       ipv4_same(&news->from, host);
}

/* Waits until that host's kernel has answered. */
static int hear_kernel(struct rds *probe, const struct sockaddr_in *host,
		       const char *what, const struct patience *patience,
		       int64_t deadline)
{
	struct rds_news news;
	char byte;

	do {
		if (wait_readable(probe->fd, -1, patience->stop_fd, deadline) <
		    0)
			return wait_fail(what, errno, patience);
		if (rds_recv(probe, &byte, sizeof(byte), &news))
			return -1;
	} while (!is_pong(&news, host));
	return 0;
}

/*
 * Nothing tells a socket that a connection is up. But the kernel of a host
 * answers messages to its port 0, over the connection, which is made for them.
 * The question has its own socket, so that no other reader finds the answer
 * among its requests.
 */
static int wait_connection(struct rds *rds, const struct sockaddr_in *to,
			   const struct patience *patience, int64_t deadline)
{
	struct rds probe = { .fd = -1 };
	struct sockaddr_in local = rds->local, kernel = *to;
	char what[64], text[IPV4_TEXT_SIZE];
	int ret;

	local.sin_port = kernel.sin_port = 0;
	snprintf(what, sizeof(what), "a connection to %s over %s",
		 ipv4_text(to, text), rds_transport_name(rds->transport));
	ret = rds_open(&probe, &local, rds->transport);
	if (ret == 0 && rds_send(&probe, &kernel, NULL, 0, NULL))
		ret = rds_send_fail(errno, &kernel, 0);
	if (ret == 0)
		ret = hear_kernel(&probe, &kernel, what, patience, deadline);
	rds_close(&probe);
	return ret;
}

int retry_wait(struct rds *rds, const struct sockaddr_in *to, bool lends,
	       const struct patience *patience, int64_t deadline)
{
	if (lends && has_room(rds))
		return wait_connection(rds, to, patience, deadline);
	if (retry_wait_room(rds, patience, deadline))
		return wait_fail("room in the send buffer", errno, patience);
	return 0;
}
