/*
 * line.h - lines of text over TCP, each of them whole and in time
 */
#ifndef LINE_H
#define LINE_H

#include <stddef.h>

#include "wait.h"

/* The most bytes that a line may have. */
#define LINE_LONGEST 256

/* A connected socket that does not block, and the last line that came. */
struct line {
	int fd;
	struct patience patience;
	int64_t deadline; /* for all that is sent and received */
	char text[LINE_LONGEST + 1];
	size_t length;
};

/*
 * Sends all of the bytes, in as many pieces as the socket takes. Returns 0, or
 * -1 after reporting why.
 */
int line_send(struct line *line, const char *bytes, size_t length);

/*
 * Reads a whole line into line->text, in as many pieces as it comes. Never
 * reads more than fits: a peer may send without end. Returns 0, or -1 after
 * reporting that what did not come, and why.
 */
int line_recv(struct line *line, const char *what);

/* Reads a line that must be text. Returns 0, or -1 after reporting why. */
int line_expect(struct line *line, const char *text, const char *what);

#endif
