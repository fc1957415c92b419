/*
 * log.h - what the programs say, and how they name a failure
 *
 * The story goes to stdout, one line for each event; failures go to stderr, one
 * line each: what failed, why, and what to try; the brackets at the end name
 * the entry in the project's docs that says more.
 */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/*
 * From now on, all lines of this thread begin with this, such as "Client 3: "
 * (on stderr, behind "error: "). A new thread has no prefix.
 */
void log_prefix(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * From now on, log_line() and log_text() of this thread print nothing or, with
 * false, print again. This is for programs with so many connections that nobody
 * wants the story of each.
 */
void log_hush(bool quiet);

/*
 * Prints one line of the story. The newline is added. It does not wait for a
 * reader that has stopped reading: see output.h.
 */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Prints label and then length bytes that a peer sent, as one line. Whatever
 * is not printable text becomes \xNN, so that a peer cannot send control
 * sequences to the reader's terminal; many zeros in a row become their number.
 * What does not fit into a line is left out.
 */
void log_text(const char *label, const char *bytes, size_t length);

/*
 * The next character of bytes becomes *c. Returns how many bytes it has, or 0 if
 * it may not be shown as it is: it is none, or not harmless on a terminal, since
 * nobody sees it or it changes the direction of the text. LC_CTYPE says what
 * characters there are.
 */
size_t log_shown(wchar_t *c, const char *bytes, size_t length);

/* Prints one failure to stderr. Always returns -1, for "return log_fail(". */
int log_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * The same for a call that failed with an errno: err is that errno (0 where
 * the call gives none), and fmt says what to try. Always returns -1.
 */
int log_fail_errno(const char *call, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
