/*
 * timed.c - runs a command, and puts the time before each line that it prints
 *
 * usage: timed COMMAND [ARGUMENT…]
 *
 * What comes on stdout and on stderr stays apart. Each line gets the time at
 * which it was written, in seconds with six digits, so that both can be put
 * into one order afterwards. A program that reads two pipes cannot know that
 * order: both may have something when it looks. So both are sockets here, for
 * which the kernel notes the time of each write(2), and a program that flushes
 * every line, as those of the chapters do, gets one for each.
 *
 * Exit status: that of the command, as a shell has it; 125 if it cannot be run
 * in this way, 127 if there is no such command.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	CANNOT = 125,
	NO_COMMAND = 127
};

struct stream {
	int ours, theirs;
	FILE *to;
	bool inside; /* of a line: what comes next belongs to it */
};

static int fail(const char *what)
{
	fprintf(stderr, "timed: %s: %s\n", what, strerror(errno));
	return CANNOT;
}

static int open_stream(struct stream *stream, FILE *to)
{
	int pair[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		return fail("socketpair");
	if (setsockopt(pair[0], SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		return fail("SO_TIMESTAMPNS");
	*stream = (struct stream){
		.ours = pair[0],
		.theirs = pair[1],
		.to = to,
	};
	return 0;
}

static void print(struct stream *stream, const char *text, size_t length,
		  const struct timespec *when)
{
	for (size_t i = 0; i < length; i++) {
		if (!stream->inside)
			fprintf(stream->to, "%" PRIdMAX ".%06ld ",
				(intmax_t)when->tv_sec, when->tv_nsec / 1000);
		putc(text[i], stream->to);
		stream->inside = text[i] != '\n';
	}
	fflush(stream->to);
}

/* Passes on all that has been written so far. */
static void pass_on(struct stream *stream)
{
	char text[65536], control[256];
	struct iovec iov = { .iov_base = text, .iov_len = sizeof(text) };
	struct timespec when = { 0 };
	ssize_t length;

	for (;;) {
		struct msghdr msg = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};
		struct cmsghdr *cmsg;

		length = recvmsg(stream->ours, &msg, MSG_DONTWAIT);
		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			return;
		for (cmsg = CMSG_FIRSTHDR(&msg); cmsg;
		     cmsg = CMSG_NXTHDR(&msg, cmsg))
			if (cmsg->cmsg_type == SCM_TIMESTAMPNS)
				memcpy(&when, CMSG_DATA(cmsg), sizeof(when));
		print(stream, text, length, &when);
	}
}

static _Noreturn void run(struct stream streams[2], char **command)
{
	/* Whoever ends us ends it. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() == 1 ||
	    dup2(streams[0].theirs, STDOUT_FILENO) < 0)
		_exit(CANNOT);
	if (dup2(streams[1].theirs, STDERR_FILENO) < 0)
		_exit(CANNOT);
	execvp(*command, command);
	dprintf(STDERR_FILENO, "timed: %s: %s\n", *command, strerror(errno));
	_exit(NO_COMMAND);
}

int main(int argc, char **argv)
{
	struct stream streams[2];
	struct pollfd fds[3];
	int status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: timed COMMAND [ARGUMENT…]\n");
		return CANNOT;
	}
	if (open_stream(&streams[0], stdout) ||
	    open_stream(&streams[1], stderr))
		return CANNOT;
	pid = fork();
	if (pid < 0)
		return fail("fork");
	if (!pid)
		run(streams, argv + 1);
	close(streams[0].theirs);
	close(streams[1].theirs);
	fds[0] = (struct pollfd){ .fd = streams[0].ours, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = streams[1].ours, .events = POLLIN };
	fds[2] = (struct pollfd){ .events = POLLIN };
	fds[2].fd = syscall(SYS_pidfd_open, pid, 0);
	if (fds[2].fd < 0)
		return fail("pidfd_open");
	do {
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return fail("poll");
		pass_on(&streams[0]);
		pass_on(&streams[1]);
	} while (!fds[2].revents);
	if (waitpid(pid, &status, 0) < 0)
		return fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
