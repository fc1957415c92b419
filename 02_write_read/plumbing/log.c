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

/* What a failed completion means, in the order of enum ibv_wc_status. */
static const char *wc_meaning(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_LOC_LEN_ERR:
		return "a message was longer than the receive posted for it; post larger receives or send less [docs/troubleshooting.md#status-1]";
	case IBV_WC_LOC_QP_OP_ERR:
		return "the local device could not carry out the request; for a receive: is it as long as the message, and may its region be written [docs/troubleshooting.md#status-2]";
	case IBV_WC_LOC_PROT_ERR:
		return "the request names memory that its lkey does not cover; compare address, length and lkey [docs/troubleshooting.md#status-4]";
	case IBV_WC_WR_FLUSH_ERR:
		return "the queue pair went to the error state with this request still posted; look for what failed first, here or on the peer [docs/troubleshooting.md#status-5]";
	case IBV_WC_REM_INV_REQ_ERR:
		return "the peer refused the request as invalid; a message longer than its receive, or an operation that its queue pair does not allow [docs/troubleshooting.md#status-9]";
	case IBV_WC_REM_ACCESS_ERR:
		return "the peer's memory region does not allow this; compare rkey, address, length and access flags [docs/troubleshooting.md#status-10]";
	case IBV_WC_REM_OP_ERR:
		return "the peer could not complete the operation; look at what the peer says [docs/troubleshooting.md#status-11]";
	case IBV_WC_RETRY_EXC_ERR:
		return "the peer did not acknowledge, however often it was asked; is it alive, is its address right, do packets reach it (UDP port 4791) [docs/troubleshooting.md#status-12]";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "the peer was reached but had no receive posted; post receives before the other side may send [docs/troubleshooting.md#status-13]";
	default:
		return "see ibv_poll_cq(3) and the IBTA specification, 11.6.2";
	}
}

int log_fail_wc(const char *what, const struct ibv_wc *wc)
{
	return log_fail("%s: status %d (%s): %s", what, wc->status,
			ibv_wc_status_str(wc->status), wc_meaning(wc->status));
}
