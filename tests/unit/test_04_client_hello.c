/*
 * test_04_client_hello.c - what a stranger says first: waited for without a
 * processor, left where it is, or refused
 */
#define _GNU_SOURCE
#include "client_hello.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

/* The longest that is let in, with its headers. */
#define LONGEST (9 + 4096)

static struct patience patience = { .timeout_ms = 20000, .stop_fd = -1 };

/* Our end, and the stranger's. */
static int fd, stranger;

static int open_ends(void **state)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	socklen_t length = sizeof(addr);

	(void)state;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(!bind(listener, (void *)&addr, sizeof(addr)) &&
		    !listen(listener, 1) &&
		    !getsockname(listener, (void *)&addr, &length));
	stranger = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(stranger, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	assert_int_equal(connect(stranger, (void *)&addr, sizeof(addr)), 0);
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	assert_true(fd >= 0);
	close(listener);
	return 0;
}

static int close_ends(void **state)
{
	(void)state;
	patience.stop_fd = -1;
	close(fd);
	if (stranger >= 0)
		close(stranger);
	return 0;
}

/* A ClientHello of so many bytes in a record of so many. */
static void make_hello(uint8_t bytes[LONGEST], int message, int record)
{
	memset(bytes, 0x55, LONGEST);
	bytes[0] = 22;
	bytes[1] = 3;
	bytes[2] = 1;
	bytes[3] = record >> 8;
	bytes[4] = record;
	bytes[5] = 1;
	bytes[6] = message >> 16;
	bytes[7] = message >> 8;
	bytes[8] = message;
}

static void say(const uint8_t *bytes, size_t length)
{
	assert_int_equal(write(stranger, bytes, length), length);
}

static int wait_for_hello(int ms)
{
	patience.timeout_ms = ms;
	return CAPTURED(client_hello_wait(fd, &patience, wait_deadline(ms)));
}

static void assert_refused(const char *reason)
{
	assert_int_equal(wait_for_hello(20000), -1);
	assert_memory_equal(said.err, "error: TLS handshake: ", 22);
	assert_one_line(said.err, reason);
}

/* Whether it is good; either way, all of it must still be there. */
TEST_AROUND(lengths, open_ends, close_ends)
{
	static const int lengths[] = { 1, 240, 1700, 4095, 4096 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		uint8_t bytes[LONGEST], got[LONGEST + 1];
		int all = 9 + lengths[i], value;
		socklen_t length = sizeof(value);

		make_hello(bytes, lengths[i], lengths[i] + 4);
		say(bytes, all);
		assert_int_equal(wait_for_hello(20000), 0);
		assert_string_equal(said.err, "");
		assert_int_equal(recv(fd, got, sizeof(got), 0), all);
		assert_memory_equal(got, bytes, all);
		/* From now on, a single byte is news again. */
		assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &value,
					    &length),
				 0);
		assert_int_equal(value, 1);
	}
}

/* How long this process has computed. */
static int64_t processor_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A part of it, and then nothing: it must not look for more all the time. */
TEST_AROUND(parts, open_ends, close_ends)
{
	static const int parts[] = { 0, 1, 5, 8, 9, 10, 200, 248 };
	uint8_t bytes[LONGEST];
	int sent = 0;

	make_hello(bytes, 240, 244);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		int64_t begin = wait_deadline(0), computed = processor_ms();

		say(bytes + sent, parts[i] - sent);
		sent = parts[i];
		assert_int_equal(wait_for_hello(300), -1);
		assert_one_line(said.err,
				"TLS handshake: nothing came within 0.3 s");
		assert_true(wait_deadline(0) - begin >= 300);
		assert_true(processor_ms() - computed < 150);
	}
	say(bytes + sent, 249 - sent);
	assert_int_equal(wait_for_hello(20000), 0);
}

static void *dribble(void *bytes)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < 249 && write(stranger, (uint8_t *)bytes + i, 1) > 0;
	     i++)
		nanosleep(&pause, NULL);
	return NULL;
}

TEST_AROUND(dribble, open_ends, close_ends)
{
	uint8_t bytes[LONGEST];
	pthread_t thread;

	make_hello(bytes, 240, 244);
	assert_int_equal(pthread_create(&thread, NULL, dribble, bytes), 0);
	assert_int_equal(wait_for_hello(20000), 0);
	pthread_join(thread, NULL);
	assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), 249);
}

/* One byte of the headers is another; nine bytes are enough to see that. */
TEST_AROUND(no_hello, open_ends, close_ends)
{
	static const struct {
		int at, byte;
	} others[] = {
		{ 0, 'H' }, { 0, 23 }, { 0, 21 }, { 1, 2 },
		{ 1, 'E' }, { 5, 2 },  { 5, 11 }, { 5, 0 },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		uint8_t bytes[LONGEST];

		make_hello(bytes, 240, 244);
		bytes[others[i].at] = others[i].byte;
		say(bytes, 9);
		assert_refused("the peer does not begin with a ClientHello");
		recv(fd, bytes, sizeof(bytes), 0);
	}
}

/* Too long, or not all of the record. */
TEST_AROUND(announced, open_ends, close_ends)
{
	static const struct {
		int message, record;
	} announced[] = {
		{ 0x020000, 4 }, { 0xffffff, 0xffff },
		{ 4097, 4101 },	 { 0x010000 - 4, 0 },
		{ 240, 245 },	 { 240, 243 },
		{ 240, 0 },	 { 0, 0 },
		{ 240, 16384 },
	};

	for (size_t i = 0; i < sizeof(announced) / sizeof(*announced); i++) {
		uint8_t bytes[LONGEST];

		make_hello(bytes, announced[i].message, announced[i].record);
		say(bytes, 9);
		assert_refused("the peer announces a ClientHello of ");
		recv(fd, bytes, sizeof(bytes), 0);
	}
}

TEST_AROUND(gone, open_ends, close_ends)
{
	struct linger linger = { .l_onoff = 1 };
	uint8_t bytes[LONGEST];

	make_hello(bytes, 240, 244);
	shutdown(stranger, SHUT_WR);
	assert_refused("the peer closed the connection before its ClientHello");
	close_ends(state);
	open_ends(state);
	say(bytes, 8);
	shutdown(stranger, SHUT_WR);
	assert_refused("the peer closed the connection before its ClientHello");
	close_ends(state);
	open_ends(state);
	setsockopt(stranger, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(stranger);
	stranger = -1;
	assert_refused("Connection reset by peer; is the peer still alive");
	close_ends(state);
	open_ends(state);
	/* In the middle: whoever reads it next will find that. */
	say(bytes, 100);
	shutdown(stranger, SHUT_WR);
	assert_int_equal(wait_for_hello(20000), 0);
}

static void *stop_soon(void *unused)
{
	const struct timespec pause = { .tv_nsec = 100000000 };

	(void)unused;
	nanosleep(&pause, NULL);
	eventfd_write(patience.stop_fd, 1);
	return NULL;
}

TEST_AROUND(stop, open_ends, close_ends)
{
	uint8_t bytes[LONGEST];

	make_hello(bytes, 240, 244);
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		patience.stop_fd = eventfd(0, 0);
		say(bytes, i ? 100 : 3);
		assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL),
				 0);
		assert_refused("given up");
		pthread_join(thread, NULL);
		close(patience.stop_fd);
		close_ends(state);
		open_ends(state);
	}
}
