/*
 * test_sock.c - a name that has several addresses
 */
#define _GNU_SOURCE
#include "sock.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

#define BUSY_MAX 8

/* Instead of libc's: "many" has two addresses, in this order. */
int getaddrinfo(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **list)
{
	int (*libc)(const char *, const char *, const struct addrinfo *,
		    struct addrinfo **);

	*(void **)&libc = dlsym(RTLD_NEXT, "getaddrinfo");
	if (!host || strcmp(host, "many") != 0)
		return libc(host, port, hints, list);
	assert_int_equal(libc("127.0.0.2", port, hints, list), 0);
	return libc("127.0.0.1", port, hints, &(*list)->ai_next);
}

static int listen_on(const char *address, in_port_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = port,
		.sin_addr.s_addr = inet_addr(address),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	assert_true(fd >= 0);
	/* Connections that have ended may still have the port. */
	assert_int_equal(
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
	assert_int_equal(bind(fd, (void *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 0), 0);
	return fd;
}

/* Connects until the listener says nothing any more: its queue is full. */
static int silence(const struct sockaddr_in *addr, int busy[BUSY_MAX])
{
	const struct timeval soon = { .tv_usec = 200000 };
	int count = 0, ret;

	do {
		assert_true(count < BUSY_MAX);
		busy[count] = socket(AF_INET, SOCK_STREAM, 0);
		assert_true(busy[count] >= 0);
		assert_int_equal(setsockopt(busy[count], SOL_SOCKET,
					    SO_SNDTIMEO, &soon, sizeof(soon)),
				 0);
		ret = connect(busy[count], (const void *)addr, sizeof(*addr));
		count++;
	} while (!ret);
	return count;
}

/* The first address does not answer: the second must have its time. */
TEST(first_is_silent)
{
	const struct patience patience = { .timeout_ms = 10000, .stop_fd = -1 };
	struct sockaddr_in addr, got;
	socklen_t length = sizeof(addr);
	int silent, good, fd, count, busy[BUSY_MAX];
	char port[8];

	silent = listen_on("127.0.0.2", 0);
	assert_int_equal(getsockname(silent, (void *)&addr, &length), 0);
	good = listen_on("127.0.0.1", addr.sin_port);
	count = silence(&addr, busy);
	snprintf(port, sizeof(port), "%d", ntohs(addr.sin_port));
	fd = CAPTURED(sock_connect("many", port, &patience,
				   wait_deadline(patience.timeout_ms)));
	assert_true(fd >= 0);
	assert_one_line(said.err,
			"the TCP connection: nothing came within 5 s");
	length = sizeof(got);
	assert_int_equal(getpeername(fd, (void *)&got, &length), 0);
	assert_int_equal(ntohl(got.sin_addr.s_addr), INADDR_LOOPBACK);
	close(fd);
	while (count)
		close(busy[--count]);
	close(silent);
	close(good);
}
