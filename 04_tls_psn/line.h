/*
 * line.h - lines of text over TLS, each of them whole and in time
 */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/ssl.h>

#include "wait.h"

/* The most bytes that a line may have. */
#define LINE_LONGEST 256

/*
 * A connected socket that does not block, TLS over it, and the last line that came.
 * After line_shake_hands() it must stay where it is.
 */
struct line {
	int fd;
	struct patience patience;
	int64_t deadline; /* for all that is sent and received */
	SSL *ssl;
	unsigned int late; /* messages of TLS's own since the handshake */
	char text[LINE_LONGEST + 1];
	size_t length;
};

/* Shakes hands, by line->ssl, and prints who the peer is. Returns 0, or -1. */
int line_shake_hands(struct line *line);

/*
 * Sends all of the bytes, in one record. Returns 0, or -1 after reporting why.
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

/*
 * Whether there is something to read: 1 or 0, with *gone if nobody is there any more; or
 * -1 after reporting why. Does not wait for it, but may wait for room to send an answer
 * of TLS's own.
 */
int line_look(struct line *line, bool *gone);

/* Whether a call that returned ret failed because nobody is there any more. */
bool line_is_gone(const struct line *line, int ret);

#endif
