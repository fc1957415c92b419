/*
 * log.c - what the programs say, and how they name a failure
 */
#include "log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

void log_line(const char *fmt, ...)
{
	va_list args;

	/* Print whole lines, even if another thread prints too. */
	flockfile(stdout);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	/* A crash would lose a line that is still in a buffer. */
	fflush(stdout);
	funlockfile(stdout);
}

/* Whether c is safe to show: not invisible, and not a change of direction. */
static bool is_shown(wchar_t c)
{
	if ((c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x206f) || c == 0xfeff)
		return false;
	return iswprint(c);
}

/* From this many zero bytes in a row, print only their number. */
#define MANY_ZEROS 8

/*
 * If bytes begins with many zero bytes, prints their number: a peer may send
 * its whole buffer. Returns how many bytes it took, or 0.
 */
static size_t print_zeros(const char *bytes, size_t length)
{
	size_t n = 0;

	while (n < length && !bytes[n])
		n++;
	if (n < MANY_ZEROS)
		return 0;
	printf(" (and %zu zero bytes)", n);
	return n;
}

/* Prints the next character of bytes; returns how many bytes it took. */
static size_t print_char(const char *bytes, size_t length)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t n = mbrtowc(&c, bytes, length, &state);

	if (n == 0 || n > length || !is_shown(c)) {
		printf("\\x%02x", (unsigned char)bytes[0]);
		return 1;
	}
	/* Print what was checked: a peer may change the bytes. */
	printf("%lc", (wint_t)c);
	return n;
}

void log_text(const char *label, const char *bytes, size_t length)
{
	size_t i, n;

	flockfile(stdout);
	fputs(label, stdout);
	for (i = 0; i < length; i += n) {
		n = print_zeros(bytes + i, length - i);
		if (!n)
			n = print_char(bytes + i, length - i);
	}
	putchar('\n');
	fflush(stdout);
	funlockfile(stdout);
}

int log_fail(const char *fmt, ...)
{
	va_list args;

	/* Take the lock of log_line(): on a terminal, both are one stream. */
	flockfile(stdout);
	va_start(args, fmt);
	fputs("error: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	funlockfile(stdout);
	return -1;
}

int log_fail_errno(const char *call, int err, const char *fmt, ...)
{
	va_list args;

	flockfile(stdout);
	va_start(args, fmt);
	fprintf(stderr, "error: %s: %s; ", call,
		err ? strerror(err) : "failed without saying why");
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	funlockfile(stdout);
	return -1;
}
