/*
 * first.c - one message each way by RDS: client and server in one file
 *
 * ./first 192.0.2.1 is a server at this address of ours, for one client.
 * ./first 192.0.2.2 192.0.2.1 is a client of that, at our address 192.0.2.2.
 * Each function returns true, or false after saying what went wrong.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <linux/rds.h>
#include <sys/socket.h>

#define PORT 4000 /* RDS has ports of its own */
#define SIZE 4096 /* bytes of a message: a text, and then zeros */
#define TIMEOUT_MS 10000 /* how long the peer may take for one step */
#define NEVER (-1L) /* no deadline */

/* Whether the condition is true. If not, prints it, and errno's text (%m). */
#define CHECK(condition) \
	((condition) || (fprintf(stderr, "error: %s: %m\n", #condition), false))

/* A socket: without a connection, one is enough for any number of peers. */
struct sock {
	int fd;
	struct sockaddr_in local, peer; /* the peer: of the last message */
	char ours[SIZE], theirs[SIZE]; /* what we send, and what comes */
};

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Sleeps until fd can be read, or written to, but not past the deadline. */
static bool ready(int fd, short events, long deadline)
{
	struct pollfd pollfd = { .fd = fd, .events = events };
	long left = deadline == NEVER ? -1 : deadline - now_ms();

	errno = ETIMEDOUT; /* stays, unless poll() itself fails */
	if (deadline != NEVER && left < 0)
		return false;
	return poll(&pollfd, 1, left) > 0;
}

/* Binding says where we are, and so which transport our messages take. */
static bool prepare(struct sock *sock)
{
	struct sockaddr *local = (struct sockaddr *)&sock->local;
	int transport, room = SIZE;
	socklen_t size = sizeof(transport);

	return CHECK((sock->fd = socket(AF_RDS, SOCK_SEQPACKET, 0)) >= 0) &&
	       /* One message fills the send buffer. */
	       CHECK(!setsockopt(sock->fd, SOL_SOCKET, SO_SNDBUF, &room,
				 sizeof(room))) &&
	       CHECK(!bind(sock->fd, local, sizeof(sock->local))) &&
	       CHECK(!getsockopt(sock->fd, SOL_RDS, SO_RDS_TRANSPORT,
				 &transport, &size)) &&
	       printf("bound, over %s.\n",
		      transport == RDS_TRANS_TCP ? "tcp" : "ib");
}

/*
 * The kernel takes a message whole, or not at all. Then it repeats it until the
 * peer's kernel acknowledges it, and only then the buffer has room again. But
 * close() would throw it away.
 */
static bool send_message(struct sock *sock)
{
	struct sockaddr *peer = (struct sockaddr *)&sock->peer;

	return CHECK(sendto(sock->fd, sock->ours, SIZE, MSG_DONTWAIT, peer,
			    sizeof(sock->peer)) == SIZE) &&
	       CHECK(ready(sock->fd, POLLOUT, now_ms() + TIMEOUT_MS)) &&
	       printf("sent, and acknowledged by the peer's kernel.\n");
}

/* Anybody may send to a socket: sets sock->peer to the one who did. */
static bool receive(struct sock *sock, long deadline)
{
	struct iovec iov = { .iov_base = sock->theirs, .iov_len = SIZE };
	struct msghdr msg;
	ssize_t n;

	do {
		if (!CHECK(ready(sock->fd, POLLIN, deadline)))
			return false;
		msg = (struct msghdr){ .msg_name = &sock->peer,
				       .msg_namelen = sizeof(sock->peer),
				       .msg_iov = &iov,
				       .msg_iovlen = 1 };
		n = recvmsg(sock->fd, &msg, MSG_DONTWAIT);
		if (n < 0 && !CHECK(errno == EAGAIN)) /* no datagram but news */
			return false;
		/* What is too long for us is cut off. It is none of ours. */
	} while (n != SIZE || msg.msg_flags & MSG_TRUNC);
	return true;
}

static bool print_message(struct sock *sock)
{
	char *text = sock->theirs;

	text[SIZE - 1] = '\0'; /* whatever the peer has put there */
	/* Bytes that are not text could control our terminal. */
	for (char *c = text; *c; c++)
		*c = isprint((unsigned char)*c) ? *c : '?';
	return printf("received message: %s\n", text);
}

static bool run_client(struct sock *sock, struct sockaddr_in *server)
{
	long deadline = now_ms() + TIMEOUT_MS;

	sock->peer = *server;
	if (!send_message(sock))
		return false;
	do { /* A message of anybody else is none of ours. */
		if (!receive(sock, deadline))
			return false;
	} while (sock->peer.sin_addr.s_addr != server->sin_addr.s_addr ||
		 sock->peer.sin_port != server->sin_port);
	return print_message(sock);
}

static bool run_server(struct sock *sock)
{
	return printf("listening on port %d.\n", PORT) &&
	       receive(sock, NEVER) && print_message(sock) &&
	       send_message(sock);
}

int main(int argc, char **argv)
{
	struct sockaddr_in server = { .sin_family = AF_INET,
				      .sin_port = htons(PORT) };
	struct sock sock = { .fd = -1, .local.sin_family = AF_INET };
	bool client = argc == 3, ok;

	if (argc < 2 || argc > 3 ||
	    !inet_pton(AF_INET, argv[1], &sock.local.sin_addr) ||
	    (client && !inet_pton(AF_INET, argv[2], &server.sin_addr))) {
		fprintf(stderr,
			"usage: %s OUR_ADDRESS [ADDRESS of the server]\n",
			argv[0]);
		return 2;
	}
	if (!client) /* For a client, the kernel chooses the port. */
		sock.local.sin_port = htons(PORT);
	setlinebuf(stdout);
	snprintf(sock.ours, SIZE, "message from %s side with pid %d",
		 client ? "active/client" : "passive/server", getpid());
	ok = prepare(&sock) &&
	     (client ? run_client(&sock, &server) : run_server(&sock));
	ok &= CHECK(sock.fd < 0 || !close(sock.fd));
	return ok ? 0 : 1;
}
