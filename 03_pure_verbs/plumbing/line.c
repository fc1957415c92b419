/*
 * line.c - lines of text over TCP, each of them whole and in time
 */
#include "line.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "log.h"

int line_send(struct line *line, const char *bytes, size_t length)
{
	while (length) {
		/* If the peer is gone, we want an error here, not a signal. */
		ssize_t n = send(line->fd, bytes, length, MSG_NOSIGNAL);

		if (n >= 0) {
			bytes += n;
			length -= n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return log_fail_errno(
				"send", errno,
				"the peer is gone; see what it says");
		if (wait_writable(line->fd, line->patience.stop_fd,
				  line->deadline))
			return wait_fail("room to send to the peer", errno,
					 &line->patience);
	}
	return 0;
}

/* Reads one byte: a line must not take with it what comes after it. */
static int recv_byte(struct line *line, const char *what, char *byte)
{
	ssize_t n;

	while ((n = recv(line->fd, byte, 1, 0)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return log_fail_errno("recv", errno,
					      "while waiting for %s", what);
		if (wait_readable(line->fd, -1, line->patience.stop_fd,
				  line->deadline) < 0)
			return wait_fail(what, errno, &line->patience);
	}
	if (n == 0)
		return log_fail(
			"the peer closed the connection instead of sending %s; see what it says [docs/troubleshooting.md#left]",
			what);
	return 0;
}

int line_recv(struct line *line, const char *what)
{
	line->length = 0;
	do {
		if (line->length == LINE_LONGEST)
			return log_fail(
				"the peer's line has more than %d bytes; is it another program",
				LINE_LONGEST);
		if (recv_byte(line, what, &line->text[line->length]))
			return -1;
	} while (line->text[line->length++] != '\n');
	line->text[line->length] = 0;
	return 0;
}

int line_expect(struct line *line, const char *text, const char *what)
{
	if (line_recv(line, what))
		return -1;
	if (strcmp(line->text, text))
		return log_fail(
			"the peer sent something other than %s; is it another program, or another version",
			what);
	return 0;
}
