/*
 * log.c - what the programs say, and how they name a failure
 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "output.h"

/* Whom the lines of this thread are about; each thread has its own. */
static _Thread_local char prefix[64];
static _Thread_local bool hushed;

void log_prefix(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(prefix, sizeof(prefix), fmt, args);
	va_end(args);
}

void log_hush(bool quiet)
{
	hushed = quiet;
}

/* A line that is being put together. What does not fit is left out. */
struct line {
	size_t length;
	char text[8192];
};

static void add_args(struct line *line, const char *fmt, va_list args)
{
	/* One byte stays for the newline, and one for vsnprintf()'s zero. */
	size_t room = sizeof(line->text) - 1 - line->length;
	int n = vsnprintf(line->text + line->length, room, fmt, args);

	if (n > 0)
		line->length += (size_t)n < room ? (size_t)n : room - 1;
}

static bool is_full(const struct line *line)
{
	return line->length == sizeof(line->text) - 2;
}

__attribute__((format(printf, 2, 3))) static void add(struct line *line,
						      const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_args(line, fmt, args);
	va_end(args);
}

static void print(int fd, struct line *line)
{
	line->text[line->length++] = '\n';
	output_line(fd, line->text, line->length);
}

void log_line(const char *fmt, ...)
{
	struct line line = { 0 };
	va_list args;

	if (hushed)
		return;
	add(&line, "%s", prefix);
	va_start(args, fmt);
	add_args(&line, fmt, args);
	va_end(args);
	print(STDOUT_FILENO, &line);
}

/*
 * Whether c is visible, and leaves the direction of the text alone.
 */
static bool is_harmless(wchar_t c)
{
	if (c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
	    (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	    c == 0xfeff)
		return false;
	return iswprint(c);
}

size_t log_shown(wchar_t *c, const char *bytes, size_t length)
{
	mbstate_t state = { 0 };
	size_t n = mbrtowc(c, bytes, length, &state);

	return n <= length && is_harmless(*c) ? n : 0;
}

/* From this many zero bytes in a row, print only their number. */
#define MANY_ZEROS 8

/*
 * If bytes begins with many zero bytes, adds their number: a peer may send its
 * whole buffer. Returns how many bytes it took, or 0.
 */
static size_t add_zeros(struct line *line, const char *bytes, size_t length)
{
	size_t n = 0;

	while (n < length && !bytes[n])
		n++;
	if (n < MANY_ZEROS)
		return 0;
	add(line, " (and %zu zero bytes)", n);
	return n;
}

/* Adds the next character of bytes; returns how many bytes it took. */
static size_t add_char(struct line *line, const char *bytes, size_t length)
{
	wchar_t c;
	size_t n = log_shown(&c, bytes, length);

	if (!n) {
		add(line, "\\x%02x", (unsigned char)bytes[0]);
		return 1;
	}
	/* Print what was checked: a peer may change the bytes. */
	add(line, "%lc", (wint_t)c);
	return n;
}

void log_text(const char *label, const char *bytes, size_t length)
{
	struct line line = { 0 };
	size_t n;

	if (hushed)
		return;
	add(&line, "%s%s", prefix, label);
	/* A peer decides how long it is: what is left out costs no time, either. */
	for (size_t i = 0; i < length && !is_full(&line); i += n) {
		n = add_zeros(&line, bytes + i, length - i);
		if (!n)
			n = add_char(&line, bytes + i, length - i);
	}
	print(STDOUT_FILENO, &line);
}

int log_fail(const char *fmt, ...)
{
	struct line line = { 0 };
	va_list args;

	add(&line, "error: %s", prefix);
	va_start(args, fmt);
	add_args(&line, fmt, args);
	va_end(args);
	print(STDERR_FILENO, &line);
	return -1;
}

int log_fail_errno(const char *call, int err, const char *fmt, ...)
{
	struct line line = { 0 };
	va_list args;

	add(&line, "error: %s%s: %s; ", prefix, call,
	    err ? strerror(err) : "failed without saying why");
	va_start(args, fmt);
	add_args(&line, fmt, args);
	va_end(args);
	print(STDERR_FILENO, &line);
	return -1;
}
