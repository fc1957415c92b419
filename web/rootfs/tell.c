/*
 * tell.c - runs a program and tells the page each line, where it was said
 *
 * tell LABEL SECONDS COMMAND...: what the program says goes to the terminal as it
 * is, and to the page, on a serial port of its own, a line at a time with the
 * label in front: `server o listening on port 20886.` (o: stdout, e: stderr).
 * The last line is `LABEL x STATUS`. The program has so many seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERMINAL "/dev/ttyS0"
#define PAGE "/dev/ttyS2"

struct stream {
	const char *label;
	char kind;
	char line[4096];
	size_t length;
};

static pid_t child;

static void out_of_time(int signal)
{
	(void)signal;
	kill(-child, SIGKILL);
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno != EINTR) {
			perror("tell: write");
			return -1;
		}
		if (done > 0) {
			data += done;
			size -= (size_t)done;
		}
	}
	return 0;
}

// One write a line, so that the lines of two programs do not mix.
static int tell_line(int page, struct stream *stream)
{
	char frame[sizeof(stream->line) + 64];
	int size = snprintf(frame, sizeof(frame), "%s %c %.*s\n", stream->label,
			    stream->kind, (int)stream->length, stream->line);

	stream->length = 0;
	return write_all(page, frame, (size_t)size);
}

// What can be read goes to the terminal at once, and to the page as lines.
// Returns 1 at the end, 0 if there may be more, -1 on failure.
static int pass_on(int from, int terminal, int page, struct stream *stream)
{
	char data[512];
	ssize_t size = read(from, data, sizeof(data));

	if (size < 0 && errno == EINTR)
		return 0;
	if (size <= 0)
		return stream->length ? (tell_line(page, stream) ? -1 : 1) : 1;
	if (write_all(terminal, data, (size_t)size))
		return -1;
	for (ssize_t i = 0; i < size; i++) {
		if (data[i] != '\n')
			stream->line[stream->length++] = data[i];
		if ((data[i] == '\n' ||
		     stream->length == sizeof(stream->line)) &&
		    tell_line(page, stream))
			return -1;
	}
	return 0;
}

static void run_program(char **argv, int out[2], int err[2])
{
	int nothing = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	dup2(nothing, 0);
	dup2(out[1], 1);
	dup2(err[1], 2);
	close(out[0]);
	close(err[0]);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

static int pass_all(int out, int err, int terminal, int page, const char *label)
{
	static struct stream streams[2];
	struct pollfd fds[2] = { { .fd = out, .events = POLLIN },
				 { .fd = err, .events = POLLIN } };
	int open_streams = 2;

	for (int i = 0; i < 2; i++) {
		streams[i].label = label;
		streams[i].kind = "oe"[i];
	}
	while (open_streams > 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -1;
		for (int i = 0; i < 2; i++) {
			int rc;

			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			rc = pass_on(fds[i].fd, terminal, page, &streams[i]);
			if (rc < 0)
				return -1;
			if (rc > 0) {
				fds[i].fd = -1;
				open_streams--;
			}
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	int out[2], err[2], status, size;
	char last[128];
	int terminal = open(TERMINAL, O_WRONLY | O_NOCTTY);
	int page = open(PAGE, O_WRONLY | O_NOCTTY);

	if (argc < 4) {
		fprintf(stderr, "usage: tell LABEL SECONDS COMMAND...\n");
		return 2;
	}
	if (terminal < 0 || page < 0 || pipe(out) || pipe(err)) {
		perror("tell");
		return 1;
	}
	child = fork();
	if (child < 0) {
		perror("tell: fork");
		return 1;
	}
	if (child == 0)
		run_program(argv + 3, out, err);
	setpgid(child, child);
	close(out[1]);
	close(err[1]);
	signal(SIGALRM, out_of_time);
	alarm((unsigned int)atoi(argv[2]));
	if (pass_all(out[0], err[0], terminal, page, argv[1]))
		return 1;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	size = snprintf(last, sizeof(last), "%s x %d\n", argv[1],
			WIFEXITED(status) ? WEXITSTATUS(status) :
					    128 + WTERMSIG(status));
	return write_all(page, last, (size_t)size) ? 1 : 0;
}
