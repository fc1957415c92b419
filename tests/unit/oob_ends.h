/*
 * oob_ends.h - the two ends of an exchange: one under test, one of any kind
 *
 * The peer is a plain socket. recv(2) and send(2) are in the test's hands: if
 * they go slowly, each call takes one byte, and every second one finds none.
 * For one test program: everything here is static. Include it after cmocka.h.
 */
#ifndef OOB_ENDS_H
#define OOB_ENDS_H

#include "capture.h"
#include "oob.h"

#define HELLO "HELLO RDMA 1\n"

static const struct params params = {
	.qpn = 0x11,
	.psn = 0x123456,
	.gid.raw = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
	.mtu = IBV_MTU_1024,
	.mode = MODE_READ,
	.mem = { 0x55d0c0ffee00, 0x7f1, 1024 },
};

/* One end is the code under test, the other a plain socket. */
struct ends {
	struct oob *listener, *oob;
	int peer;
	int descriptors; /* how many there were before */
	int64_t began; /* when, as of wait_deadline(0) */
	struct patience patience;
};

static struct ends ends;
static bool slowly;

ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
	static bool now;

	if (slowly && !(flags & MSG_PEEK)) {
		now = !now;
		errno = EAGAIN;
		if (!now)
			return -1;
		size = 1;
	}
	return syscall(SYS_recvfrom, fd, bytes, size, flags, NULL, NULL);
}

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
	static bool now;

	if (slowly) {
		now = !now;
		errno = EAGAIN;
		if (!now)
			return -1;
		size = 1;
	}
	return syscall(SYS_sendto, fd, bytes, size, flags, NULL, 0);
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* The port that fd listens on, as text. */
static const char *port_of(int fd)
{
	static char text[8];
	struct sockaddr_in addr;
	socklen_t length = sizeof(addr);

	assert_int_equal(getsockname(fd, (void *)&addr, &length), 0);
	snprintf(text, sizeof(text), "%d", ntohs(addr.sin_port));
	return text;
}

/* A plain socket, bound to a loopback address or connected to port on it. */
static int plain_socket(const char *port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port ? atoi(port) : 0),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	assert_true(fd >= 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (port)
		assert_int_equal(connect(fd, (void *)&addr, sizeof(addr)), 0);
	else
		assert_true(!bind(fd, (void *)&addr, sizeof(addr)) &&
			    !listen(fd, 1));
	return fd;
}

/* The plain socket says this. */
static void say(const void *bytes, size_t length)
{
	assert_int_equal(write(ends.peer, bytes, length), length);
}

/* The plain socket must have been sent this, and nothing else. */
static void hear(const char *text)
{
	char bytes[PARAMS_MAX + 64] = "";
	size_t length = 0;

	while (length < strlen(text)) {
		ssize_t n =
			read(ends.peer, bytes + length, strlen(text) - length);

		assert_true(n > 0);
		length += n;
	}
	assert_string_equal(bytes, text);
	assert_int_equal(syscall(SYS_recvfrom, ends.peer, bytes, 1,
				 MSG_DONTWAIT, NULL, NULL),
			 -1);
}

static int close_ends(void **state)
{
	(void)state;
	slowly = false;
	oob_close(ends.oob);
	oob_close(ends.listener);
	if (ends.peer >= 0)
		close(ends.peer);
	return count_descriptors() != ends.descriptors;
}

static void start(void)
{
	ends = (struct ends){
		.peer = -1,
		.descriptors = count_descriptors(),
		.began = wait_deadline(0),
		.patience = { .timeout_ms = 20000, .stop_fd = -1 },
	};
}

/* A server under test and a plain client. */
static int open_server(void **state)
{
	struct options options = { .address = "127.0.0.1", .port = "0" };

	(void)state;
	start();
	ends.listener = oob_listen(&options);
	assert_non_null(ends.listener);
	ends.peer = plain_socket(port_of(oob_fd(ends.listener)));
	ends.oob = oob_accept(ends.listener, &ends.patience);
	assert_non_null(ends.oob);
	hear(HELLO);
	return 0;
}

/* The same with little patience. */
static int open_impatient(void **state)
{
	struct options options = { .address = "127.0.0.1", .port = "0" };

	(void)state;
	start();
	ends.patience.timeout_ms = 1000;
	ends.listener = oob_listen(&options);
	assert_non_null(ends.listener);
	ends.peer = plain_socket(port_of(oob_fd(ends.listener)));
	ends.oob = oob_accept(ends.listener, &ends.patience);
	assert_non_null(ends.oob);
	return 0;
}

static int recv_params(struct params *got)
{
	return CAPTURED(oob_recv_params(ends.oob, got, true));
}

static void assert_recv_fails(const char *reason)
{
	struct params got;

	assert_int_equal(recv_params(&got), -1);
	assert_memory_equal(said.err, "error: ", 7);
	assert_one_line(said.err, reason);
}

/* Byte after byte, each when the one before has been sent. */
static void *dribble(void *line)
{
	const char *at = line;
	const struct timespec pause = { .tv_nsec = 2000000 };

	while (*at && write(ends.peer, at, 1) == 1) {
		nanosleep(&pause, NULL);
		at++;
	}
	return NULL;
}

static void reset_peer(void)
{
	struct linger linger = { .l_onoff = 1 };

	setsockopt(ends.peer, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(ends.peer);
	ends.peer = -1;
}

#endif
