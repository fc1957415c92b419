/*
 * ipv4.c - names and addresses
 */
#include "ipv4.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"

/* getaddrinfo(3) would take 65536 for 0, and 0 and 1 are the kernel's own. */
static bool is_port(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	return isdigit((unsigned char)*text) && !*end && port >= 2 &&
	       port <= 65535;
}

/* Cuts "host:port" in two; host has room for size bytes. */
static int split(const char *text, char *host, size_t size, const char **port)
{
	const char *colon = strchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : strlen(text);

	if (length >= size)
		return log_fail("the name %s is too long", text);
	memcpy(host, text, length);
	host[length] = 0;
	if (!colon)
		return 0;
	*port = colon + 1;
	if (!is_port(*port))
		return log_fail(
			"%s: after the colon goes a port, from 2 to 65535",
			text);
	return 0;
}

/*
 * getaddrinfo(3) may ask a name server, which may be silent, and looks neither
 * at the clock nor at stop_fd. So while it asks, a signal ends the program at
 * once: the program does not hold anything yet that the kernel would not free.
 */
static int ask(const char *host, const char *port, struct addrinfo *hints,
	       struct addrinfo **list)
{
	sigset_t signals, before;
	int err;

	/* An address needs no name server, so leave the signals blocked. */
	hints->ai_flags |= AI_NUMERICHOST;
	err = getaddrinfo(host, port, hints, list);
	if (err != EAI_NONAME)
		return err;
	hints->ai_flags &= ~AI_NUMERICHOST;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	/* Fails only for an argument that does not exist, so not here. */
	pthread_sigmask(SIG_UNBLOCK, &signals, &before);
	err = getaddrinfo(host, port, hints, list);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int ipv4_lookup(const char *text, const char *port, struct sockaddr_in *addr)
{
	/* RDS is older than its use of IPv6, and IPv4 is enough here. */
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICSERV,
		.ai_family = AF_INET,
		.ai_socktype = SOCK_DGRAM,
	};
	struct addrinfo *list;
	char host[256];
	int err;

	if (split(text, host, sizeof(host), &port))
		return -1;
	err = ask(host, port, &hints, &list);
	if (err)
		return log_fail(
			"cannot look up %s: %s; give an IPv4 address that `ip addr` shows, such as 192.0.2.1, or 192.0.2.1:4001 with a port",
			text,
			err == EAI_SYSTEM ? strerror(errno) :
					    gai_strerror(err));
	memcpy(addr, list->ai_addr, sizeof(*addr));
	freeaddrinfo(list);
	return 0;
}

int ipv4_list(const char *text, const char *port, struct sockaddr_in *addrs,
	      int max)
{
	char one[256];
	int count = 0;

	do {
		size_t length = strcspn(text, ",");

		if (count == max)
			return log_fail("-a: at most %d servers", max);
		snprintf(one, sizeof(one), "%.*s", (int)length, text);
		if (ipv4_lookup(one, port, &addrs[count++]))
			return -1;
		text += length;
	} while (*text++);
	return count;
}

int ipv4_way_to(const struct sockaddr_in *peer, struct sockaddr_in *local)
{
	socklen_t length = sizeof(*local);
	int fd, ret = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return log_fail_errno("socket", errno, "cannot go on");
	/* Connecting a UDP socket only asks the routing table. */
	if (connect(fd, (const struct sockaddr *)peer, sizeof(*peer)) ||
	    getsockname(fd, (struct sockaddr *)local, &length))
		ret = log_fail_errno(
			"connect", errno,
			"is there a route to the peer: see `ip route`; or say where to send from, with -b");
	local->sin_port = 0;
	close(fd);
	return ret;
}

bool ipv4_same(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
	return a->sin_addr.s_addr == b->sin_addr.s_addr &&
	       a->sin_port == b->sin_port;
}

const char *ipv4_text(const struct sockaddr_in *addr, char text[IPV4_TEXT_SIZE])
{
	if (!inet_ntop(AF_INET, &addr->sin_addr, text, IPV4_TEXT_SIZE))
		snprintf(text, IPV4_TEXT_SIZE, "(no address)");
	return text;
}
