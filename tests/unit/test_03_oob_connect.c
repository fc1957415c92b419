/*
 * test_03_oob_connect.c - how two ends find each other
 */
#define _GNU_SOURCE
#include "oob.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "addr.h"

static struct patience patience = { .timeout_ms = 20000, .stop_fd = -1 };

/* A plain server on a loopback address, and what it says to its client. */
struct plain {
	int listener, fd;
	char port[8];
	const char *hello;
	pthread_t thread;
};

static void *serve(void *argument)
{
	struct plain *plain = argument;

	plain->fd = accept(plain->listener, NULL, NULL);
	if (plain->fd >= 0 && plain->hello)
		send(plain->fd, plain->hello, strlen(plain->hello),
		     MSG_NOSIGNAL);
	return NULL;
}

static void plain_open(struct plain *plain, const char *hello)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(addr);

	plain->hello = hello;
	plain->listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(plain->listener >= 0);
	assert_int_equal(bind(plain->listener, (void *)&addr, length), 0);
	assert_int_equal(getsockname(plain->listener, (void *)&addr, &length),
			 0);
	snprintf(plain->port, sizeof(plain->port), "%d", ntohs(addr.sin_port));
	assert_int_equal(listen(plain->listener, 1), 0);
	assert_int_equal(pthread_create(&plain->thread, NULL, serve, plain), 0);
}

static void plain_close(struct plain *plain)
{
	assert_int_equal(pthread_join(plain->thread, NULL), 0);
	close(plain->fd);
	close(plain->listener);
}

static struct oob *connect_to(const char *address, const char *port)
{
	struct options options = { .address = address, .port = port };
	struct oob *oob;

	oob = CAPTURED(oob_connect(&options, &patience));
	return oob;
}

static int option_of(int fd, int level, int option)
{
	int value;
	socklen_t length = sizeof(value);

	assert_int_equal(getsockopt(fd, level, option, &value, &length), 0);
	return value;
}

TEST(connect)
{
	const struct sockaddr_in *local;
	struct plain plain;
	struct oob *oob;
	int fd;

	plain_open(&plain, "HELLO RDMA 1\n");
	oob = connect_to("127.0.0.1", plain.port);
	assert_non_null(oob);
	assert_string_equal(said.err, "");
	local = (const struct sockaddr_in *)oob_local(oob);
	assert_int_equal(local->sin_family, AF_INET);
	assert_int_equal(ntohl(local->sin_addr.s_addr), INADDR_LOOPBACK);
	/* A host that is gone is noticed, without a word from us. */
	fd = oob_fd(oob);
	assert_true(option_of(fd, SOL_SOCKET, SO_KEEPALIVE));
	assert_in_range(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 1, 30000);
	assert_in_range(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 1, 10);
	assert_true(option_of(fd, IPPROTO_TCP, TCP_NODELAY));
	oob_close(oob);
	plain_close(&plain);
}

TEST(wrong_hello)
{
	static const char *const bad[] = { "HELLO RDMA 2\n",
					   "SSH-2.0-OpenSSH_9.2p1\r\n", "\n" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct plain plain;

		plain_open(&plain, bad[i]);
		assert_null(connect_to("127.0.0.1", plain.port));
		assert_one_line(said.err, "something other than hello");
		plain_close(&plain);
	}
}

TEST(silent_server)
{
	struct plain plain;

	plain_open(&plain, NULL);
	patience.timeout_ms = 200;
	assert_null(connect_to("127.0.0.1", plain.port));
	patience.timeout_ms = 20000;
	assert_one_line(said.err, "hello: nothing came within 0.2 s");
	plain_close(&plain);
}

TEST(nobody_there)
{
	struct plain plain;

	plain_open(&plain, NULL);
	assert_int_equal(shutdown(plain.listener, SHUT_RDWR), 0);
	assert_int_equal(pthread_join(plain.thread, NULL), 0);
	close(plain.listener);
	assert_null(connect_to("127.0.0.1", plain.port));
	assert_one_line(said.err, "error: connect: Connection refused; is the "
				  "server running");
	assert_null(connect_to("no.such.name.invalid", "7"));
	assert_one_line(said.err, "cannot look up no.such.name.invalid");
}

static int plain_client(const char *host, const char *port)
{
	struct addrinfo *list;
	int fd;

	assert_int_equal(addr_lookup(host, port, &list), 0);
	fd = socket(list->ai_family, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, list->ai_addr, list->ai_addrlen), 0);
	freeaddrinfo(list);
	return fd;
}

/* An IPv4 client of a server for both: the addresses are IPv4 ones. */
TEST(both_families)
{
	static const char *const hosts[] = { "127.0.0.1", "::1" };
	static const int families[] = { AF_INET, AF_INET6 };
	struct options options = { .port = "0" };
	struct oob *listener = oob_listen(&options), *server;
	struct sockaddr_in6 addr;
	socklen_t length = sizeof(addr);
	char port[8];

	assert_non_null(listener);
	assert_int_equal(getsockname(oob_fd(listener), (void *)&addr, &length),
			 0);
	snprintf(port, sizeof(port), "%d", ntohs(addr.sin6_port));
	for (int i = 0; i < 2; i++) {
		int fd = plain_client(hosts[i], port);

		server = oob_accept(listener, &patience);
		assert_non_null(server);
		assert_int_equal(oob_local(server)->sa_family, families[i]);
		oob_close(server);
		close(fd);
	}
	oob_close(listener);
}

static const char *listen_error(const char *address, const char *port)
{
	struct options options = { .address = address, .port = port };
	struct oob *oob;

	oob = CAPTURED(oob_listen(&options));
	assert_null(oob);
	return said.err;
}

TEST(cannot_listen)
{
	struct plain plain;

	plain_open(&plain, NULL);
	assert_one_line(listen_error("127.0.0.1", plain.port),
			"error: bind: Address already in use; another program "
			"listens on this port");
	assert_int_equal(shutdown(plain.listener, SHUT_RDWR), 0);
	plain_close(&plain);
	assert_one_line(listen_error("192.0.2.99", "7000"),
			"error: bind: Cannot assign requested address; is this "
			"an address of this machine");
}

TEST(close_nothing)
{
	oob_close(NULL);
}
