/*
 * calls.c - what single calls of an RDS socket do, with their times
 *
 * Not a program of the chapters: it is for docs/rds.md, and its output is in
 * docs/rds/calls.txt. See usage() for what it can show.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rds.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PORT 4000
#define PATIENCE_S 5

static void usage(void)
{
	puts("usage: ./calls OWN_ADDRESS PEER_ADDRESS tcp|ib WHAT\n"
	     "\n"
	     "  hold     be the peer: a socket that never reads, for 30 s\n"
	     "  full     no peer: send until the buffer is full\n"
	     "  first    no peer: the first message of a socket\n"
	     "  blocked  send to a peer that holds until the call sleeps\n"
	     "  empty    send 20000 messages without data to one that holds\n"
	     "  zero     send 8 KiB without copying\n");
	exit(2);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static struct sockaddr_in address(const char *text, int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_port = htons(port) };

	if (inet_pton(AF_INET, text, &sin.sin_addr) != 1)
		usage();
	return sin;
}

/* An alarm is to end a call, not to begin it again. */
static void wake(int signal)
{
	(void)signal;
}

/* One counter of the kernel's RDS, of all sockets. */
static uint64_t counter(int fd, const char *name)
{
	static struct rds_info_counter counters[256];
	socklen_t size = sizeof(counters);
	int each;

	each = getsockopt(fd, SOL_RDS, RDS_INFO_COUNTERS, counters, &size);
	if (each < 0)
		die("RDS_INFO_COUNTERS");
	for (size_t i = 0; i < size / sizeof(*counters); i++)
		if (!strcmp((char *)counters[i].name, name))
			return counters[i].value;
	return 0;
}

/* Sends size bytes, says how it went if loud, and returns 0 or the errno. */
static int send_to(int fd, const struct sockaddr_in *to, size_t size, int flags,
		   bool loud)
{
	static char data[65536];
	double before = now();
	ssize_t sent;
	int err;

	alarm(PATIENCE_S);
	sent = sendto(fd, data, size, flags, (const struct sockaddr *)to,
		      sizeof(*to));
	err = sent < 0 ? errno : 0;
	alarm(0);
	if (loud || now() - before > 0.5)
		printf("sendto of %zu bytes: %s, after %.1f s\n", size,
		       err ? strerror(err) : "success", now() - before);
	return err;
}

static void send_many(int fd, const struct sockaddr_in *to, size_t size,
		      int max)
{
	int count = 0, err = 0;

	while (count < max && !err) {
		err = send_to(fd, to, size, 0, false);
		count += !err;
	}
	printf("%d messages of %zu bytes were taken\n", count, size);
}

/* What recvmsg() says of messages that were sent without copying. */
static void reap(int fd)
{
	char control[CMSG_SPACE(sizeof(struct rds_zcopy_cookies))];
	struct msghdr msg = { .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct rds_zcopy_cookies cookies;
	struct cmsghdr *cmsg;
	double before = now();

	while (recvmsg(fd, &msg, MSG_DONTWAIT) < 0) {
		if (now() - before > PATIENCE_S)
			die("recvmsg");
		usleep(10000);
		msg.msg_controllen = sizeof(control);
	}
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != RDS_CMSG_ZCOPY_COMPLETION)
		return;
	memcpy(&cookies, CMSG_DATA(cmsg), sizeof(cookies));
	printf("RDS_CMSG_ZCOPY_COMPLETION: %u cookie, %u\n", cookies.num,
	       cookies.cookies[0]);
}

static void send_zero(int fd, struct sockaddr_in *to)
{
	static char data[8192] __attribute__((aligned(4096)));
	char control[CMSG_SPACE(sizeof(uint32_t))] = { 0 };
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	struct msghdr msg = { .msg_name = to,
			      .msg_namelen = sizeof(*to),
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	uint64_t copied;
	int one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		die("SO_ZEROCOPY");
	copied = counter(fd, "copy_from_user");
	send_to(fd, to, sizeof(data), 0, true);
	printf("copy_from_user: %llu bytes more\n",
	       (unsigned long long)(counter(fd, "copy_from_user") - copied));
	cmsg->cmsg_level = SOL_RDS;
	cmsg->cmsg_type = RDS_CMSG_ZCOPY_COOKIE;
	cmsg->cmsg_len = CMSG_LEN(sizeof(uint32_t));
	memcpy(CMSG_DATA(cmsg), &(uint32_t){ 77 }, sizeof(uint32_t));
	copied = counter(fd, "copy_from_user");
	if (sendmsg(fd, &msg, MSG_ZEROCOPY) < 0)
		die("sendmsg with MSG_ZEROCOPY");
	puts("sendmsg of 8192 bytes with MSG_ZEROCOPY, cookie 77: success");
	printf("copy_from_user: %llu bytes more\n",
	       (unsigned long long)(counter(fd, "copy_from_user") - copied));
	reap(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in own, peer;
	struct timeval timeout = { .tv_sec = 1 };
	const char *what;
	int fd, transport, buffer = 65536;

	if (argc != 5)
		usage();
	setvbuf(stdout, NULL, _IOLBF, 0);
	what = argv[4];
	own = address(argv[1], strcmp(what, "hold") ? 0 : PORT);
	peer = address(argv[2], PORT);
	transport = strcmp(argv[3], "ib") ? RDS_TRANS_TCP : RDS_TRANS_IB;
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = wake }, NULL);

	fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_RDS, SO_RDS_TRANSPORT, &transport,
		       sizeof(transport)))
		die("SO_RDS_TRANSPORT");
	if (!strcmp(what, "hold"))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	if (bind(fd, (struct sockaddr *)&own, sizeof(own)))
		die("bind");
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)))
		die("SO_SNDTIMEO");

	if (!strcmp(what, "hold"))
		sleep(30);
	else if (!strcmp(what, "full"))
		send_many(fd, &peer, 60000, 1000);
	else if (!strcmp(what, "first"))
		send_to(fd, &peer, 1, 0, true);
	else if (!strcmp(what, "blocked"))
		send_many(fd, &peer, 1000, 1000);
	else if (!strcmp(what, "empty"))
		send_many(fd, &peer, 0, 20000);
	else if (!strcmp(what, "zero"))
		send_zero(fd, &peer);
	else
		usage();
	return 0;
}
