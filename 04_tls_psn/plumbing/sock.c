/*
 * sock.c - TCP sockets that never block and know when their peer is gone
 */
/* For accept4(2). */
#define _GNU_SOURCE

#include "sock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "addr.h"
#include "log.h"

/* How many clients may wait to be accepted: a thousand can come at once. */
#define BACKLOG SOMAXCONN

/* After how long a silent peer's host counts as dead: 5 + 3 * 2 seconds. */
#define KEEPALIVE_IDLE_S 5
#define KEEPALIVE_INTERVAL_S 2
#define KEEPALIVE_PROBES 3

static int set(int fd, int level, int option, int value)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		return log_fail_errno("setsockopt", errno, "option %d", option);
	return 0;
}

/*
 * A queue pair does not notice that its peer's host is gone until it sends,
 * and a TCP socket does not either, unless it is told to ask.
 */
static int watch_peer(int fd)
{
	int unanswered_ms =
		(KEEPALIVE_IDLE_S + KEEPALIVE_INTERVAL_S * KEEPALIVE_PROBES) *
		1000;

	if (set(fd, SOL_SOCKET, SO_KEEPALIVE, 1) ||
	    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S) ||
	    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S) ||
	    set(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES) ||
	    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, unanswered_ms))
		return -1;
	/* Small lines, each of which the peer waits for: send them at once. */
	return set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static int open_socket(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family,
			ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return log_fail_errno("socket", errno, "see \"ulimit -n\"");
	return fd;
}

static int bind_and_listen(int fd, const struct addrinfo *ai)
{
	const char *call = "bind";

	/* Without this, a server could not restart for a minute. */
	if (set(fd, SOL_SOCKET, SO_REUSEADDR, 1))
		return -1;
	/* On "::" it takes IPv4 as well, whatever net.ipv6.bindv6only says. */
	if (ai->ai_family == AF_INET6 && set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0))
		return -1;
	if (!bind(fd, ai->ai_addr, ai->ai_addrlen)) {
		call = "listen";
		if (!listen(fd, BACKLOG))
			return 0;
	}
	return log_fail_errno(
		call, errno, "%s",
		errno == EADDRINUSE ?
			"another program listens on this port; give another with -p [docs/troubleshooting.md#address-in-use]" :
			"is this an address of this machine; see -a [docs/troubleshooting.md#cannot-assign]");
}

static int listen_on(const struct addrinfo *ai)
{
	int fd = open_socket(ai);

	if (fd >= 0 && bind_and_listen(fd, ai)) {
		close(fd);
		return -1;
	}
	return fd;
}

int sock_listen(const char *address, const char *port)
{
	struct addrinfo *list;
	int fd = -1;

	if (addr_lookup(address, port, &list))
		return -1;
	/* A name may have several addresses: use the first that works. */
	for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next)
		fd = listen_on(ai);
	freeaddrinfo(list);
	return fd;
}

/*
 * accept(2) also returns the errors of a connection that it did not take, and
 * the next one may work. Any other error will come again.
 */
static int explain_accept(int err)
{
	static const int passing[] = {
		EAGAIN, EINTR,	      ECONNABORTED, EPROTO,
		EPERM,	ENETDOWN,     ENOPROTOOPT,  EHOSTDOWN,
		ENONET, EHOSTUNREACH, EOPNOTSUPP,   ENETUNREACH,
	};

	for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++)
		if (err == passing[i])
			return log_fail_errno("accept", err,
					      "this client is not served");
	log_fail_errno("accept", err,
		       "no client can be taken now; see \"ulimit -n\"");
	return SOCK_BROKEN;
}

/* On a socket for IPv4 and IPv6, an IPv4 address looks like ::ffff:a.b.c.d. */
static void unmap(struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;
	struct in_addr v4;

	if (addr->ss_family != AF_INET6 ||
	    !IN6_IS_ADDR_V4MAPPED(&sin6->sin6_addr))
		return;
	v4.s_addr = sin6->sin6_addr.s6_addr32[3];
	*sin = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr = v4,
	};
}

int sock_accept(int listener, struct sockaddr_storage *peer)
{
	socklen_t length = sizeof(*peer);
	/* getpeername(2) would fail for a peer that has already gone. */
	int fd = accept4(listener, (struct sockaddr *)peer, &length,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return explain_accept(errno);
	if (watch_peer(fd)) {
		close(fd);
		return -1;
	}
	unmap(peer);
	return fd;
}

static int explain_connect(int err)
{
	return log_fail_errno(
		"connect", err,
		"is the server running, and are -a and -p the same on both ends [docs/troubleshooting.md#connection-refused]");
}

/* A non-blocking connect(2) is over when the socket can be written to. */
static int finish_connect(int fd, const struct patience *patience,
			  int64_t deadline)
{
	int64_t own = wait_deadline(patience->timeout_ms);
	socklen_t length = sizeof(int);
	int err;

	if (wait_writable(fd, patience->stop_fd,
			  own < deadline ? own : deadline))
		return wait_fail("the TCP connection", errno, patience);
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &length))
		return log_fail_errno("getsockopt", errno, "SO_ERROR");
	return err ? explain_connect(err) : 0;
}

static int connect_one(const struct addrinfo *ai,
		       const struct patience *patience, int64_t deadline)
{
	int fd = open_socket(ai), ret = 0;

	if (fd < 0)
		return -1;
	if (connect(fd, ai->ai_addr, ai->ai_addrlen)) {
		if (errno == EINPROGRESS)
			ret = finish_connect(fd, patience, deadline);
		else if (errno == ECONNREFUSED)
			ret = explain_connect(errno);
		else
			ret = log_fail_errno(
				"connect", errno,
				"compare -a with `ip addr` on the server");
	}
	if (!ret)
		ret = watch_peer(fd);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

int sock_connect(const char *address, const char *port,
		 const struct patience *patience, int64_t deadline)
{
	struct patience share = *patience;
	struct addrinfo *list, *ai;
	int fd = -1, count = 0;

	if (addr_lookup(address, port, &list))
		return -1;
	/*
	 * A name may have several addresses: use the first that works. One that
	 * does not answer must leave time for the others.
	 */
	for (ai = list; ai; ai = ai->ai_next)
		count++;
	share.timeout_ms /= count;
	for (ai = list; ai && fd < 0; ai = ai->ai_next)
		fd = connect_one(ai, &share, deadline);
	freeaddrinfo(list);
	return fd;
}

int sock_local(int fd, struct sockaddr_storage *addr)
{
	socklen_t length = sizeof(*addr);

	if (getsockname(fd, (struct sockaddr *)addr, &length))
		return log_fail_errno("getsockname", errno, "of the socket");
	unmap(addr);
	return 0;
}

int sock_peer(int fd, struct sockaddr_storage *addr)
{
	socklen_t length = sizeof(*addr);

	if (getpeername(fd, (struct sockaddr *)addr, &length))
		return log_fail_errno("getpeername", errno, "the peer is gone");
	unmap(addr);
	return 0;
}

bool sock_is_gone(int err)
{
	/* Cut by the peer, or by its kernel; or silent for too long. */
	return err == EPIPE || err == ECONNRESET || err == ETIMEDOUT ||
	       err == EHOSTUNREACH || err == ENETUNREACH;
}
