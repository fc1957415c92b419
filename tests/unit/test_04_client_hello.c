/*
 * test_04_client_hello.c - what a stranger says first: waited for without a
 * processor, left where it is, or refused
 */
#define _GNU_SOURCE
#include "client_hello.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
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
	return close(fd) || close(stranger);
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

/* Nine bytes are enough to see that it is none, or too long, or not all of the record. */
TEST_AROUND(refused, open_ends, close_ends)
{
	static const struct {
		int at, byte, message, record;
		const char *reason;
	} cases[] = {
#define NO_HELLO "the peer does not begin with a ClientHello"
#define ANNOUNCES "the peer announces a ClientHello of "
		{ 0, 'H', 240, 244, NO_HELLO },
		{ 0, 23, 240, 244, NO_HELLO },
		{ 1, 2, 240, 244, NO_HELLO },
		{ 5, 2, 240, 244, NO_HELLO },
		{ 5, 0, 240, 244, NO_HELLO },
		{ 0, 22, 0xffffff, 0xffff, ANNOUNCES },
		{ 0, 22, 4097, 4101, ANNOUNCES },
		{ 0, 22, 0x010000 - 4, 0, ANNOUNCES },
		{ 0, 22, 240, 245, ANNOUNCES },
		{ 0, 22, 240, 243, ANNOUNCES },
		{ 0, 22, 0, 0, ANNOUNCES },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t bytes[LONGEST];

		make_hello(bytes, cases[i].message, cases[i].record);
		bytes[cases[i].at] = cases[i].byte;
		say(bytes, 9);
		assert_int_equal(wait_for_hello(20000), -1);
		assert_one_line(said.err, cases[i].reason);
		recv(fd, bytes, sizeof(bytes), 0);
	}
}
