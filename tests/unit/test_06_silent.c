/*
 * test_06_silent.c - which host is given up, when the kernel's queue has several
 */
#include "silent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "test.h"

static struct rds rds = { .local.sin_addr.s_addr = 1,
			  .patience.timeout_ms = 1000 };
/* What is queued: by the last number of the host, and the port. */
static const struct {
	int host, port, bytes;
} queued[] = { { 3, 7, 50 }, { 4, 1, 40 }, { 3, 5, 50 },
	       { 4, 2, 40 }, { 3, 7, 50 }, { 4, 2, 40 } };
static int cancelled[8][2], cancels, room;

static struct rds6_info_message message(int i)
{
	struct rds6_info_message out = { 0 };

	out.len = queued[i].bytes;
	out.lport = rds.local.sin_port;
	out.fport = queued[i].port;
	out.laddr.s6_addr16[5] = out.faddr.s6_addr16[5] = 0xffff;
	out.laddr.s6_addr32[3] = rds.local.sin_addr.s_addr;
	out.faddr.s6_addr32[3] = htonl(0xc0000200 + queued[i].host);
	return out;
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
	int size = sizeof(struct rds6_info_message), n = 6;

	(void)fd;
	if (level == SOL_SOCKET) {
		*(int *)value = 2 * room;
		return 0;
	}
	if (option != RDS6_INFO_RETRANS_MESSAGES) {
		*length = 0;
		return size;
	}
	if ((int)*length < n * size) {
		*length = n * size;
		errno = ENOSPC;
		return -1;
	}
	for (int i = 0; i < n; i++)
		((struct rds6_info_message *)value)[i] = message(i);
	return size;
}

int setsockopt(int fd, int level, int option, const void *value,
	       socklen_t length)
{
	const struct sockaddr_in *to = value;

	(void)fd;
	assert_int_equal(level, SOL_RDS);
	assert_int_equal(option, RDS_CANCEL_SENT_TO);
	assert_int_equal(length, sizeof(*to));
	assert_true(cancels < 8);
	cancelled[cancels][0] = ntohl(to->sin_addr.s_addr) - 0xc0000200;
	cancelled[cancels++][1] = to->sin_port;
	return 0;
}

static void give_up(struct silent *silent, int bytes)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc0000204),
	};

	cancels = 0;
	room = bytes;
	CAPTURE(silent_add(silent, &rds, &to));
}

/* The buffer is full: the host that has most of it, wherever that stands, once a port. */
TEST(most)
{
	struct silent silent = { 0 };

	give_up(&silent, 270);
	assert_one_line(said.out, "192.0.2.3 acknowledges nothing");
	assert_int_equal(cancels, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(cancelled[i][0], 3);
		assert_int_equal(cancelled[i][1], i ? 7 : 5);
	}
}

/* It is not full: the one that could not be reached. */
TEST(asked)
{
	struct silent silent = { 0 };

	give_up(&silent, 271);
	assert_int_equal(cancels, 2);
	assert_int_equal(cancelled[0][0], 4);
	assert_int_equal(cancelled[1][0], 4);
}
