/*
 * params_line.h - a line of parameters to be changed, and what becomes of it
 *
 * For one test program: everything here is static. Include it after cmocka.h.
 */
#ifndef PARAMS_LINE_H
#define PARAMS_LINE_H

#include "capture.h"
#include "params.h"

/* Written down by hand; the fields are replaced one by one below. */
#define LINE                                                               \
	"RDMA 1 QPN 0x000011 PSN 0x123456 GID ::ffff:192.0.2.1 LID 0x0000" \
	" MTU 1024 MODE write ADDR 0x55d0c0ffee00 RKEY 0x000007f1"         \
	" LENGTH 1024\n"

static struct params params;

static int decode_bytes(const char *bytes, size_t length, bool roce)
{
	/* They stand alone, so that a read beyond them is seen. */
	char *copy = malloc(length + 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy + 1, bytes, length);
	memset(&params, 0xee, sizeof(params));
	ret = CAPTURED(params_decode(&params, copy + 1, length, roce));
	free(copy);
	assert_string_equal(said.out, "");
	return ret;
}

static void assert_bytes_refused(const char *bytes, size_t length, bool roce,
				 const char *reason)
{
	assert_int_equal(decode_bytes(bytes, length, roce), -1);
	assert_memory_equal(said.err, "error: ", 7);
	assert_one_line(said.err, reason);
}

static void assert_accepted(const char *line, bool roce)
{
	int ret = decode_bytes(line, strlen(line), roce);

	assert_string_equal(said.err, "");
	assert_int_equal(ret, 0);
}

/* LINE with the text from replaced by to. */
static const char *with(const char *from, const char *to)
{
	static char line[2048];
	const char *at = strstr(LINE, from);

	assert_non_null(at);
	snprintf(line, sizeof(line), "%.*s%s%s", (int)(at - LINE), LINE, to,
		 at + strlen(from));
	return line;
}

static void assert_refused(const char *from, const char *to, const char *reason)
{
	const char *line = with(from, to);

	assert_bytes_refused(line, strlen(line), true, reason);
}

#define FORM "does not have the form"

#endif
