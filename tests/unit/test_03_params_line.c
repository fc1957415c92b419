/*
 * test_03_params_line.c - the form of the line of parameters
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params_wire.h"
#include "test.h"

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

/* As it is written, and no other. */
TEST(there_and_back)
{
	char wire[PARAMS_MAX];

	assert_int_equal(decode_bytes(LINE, strlen(LINE), true), 0);
	assert_int_equal(params_encode(&params, wire), strlen(LINE));
	assert_memory_equal(wire, LINE, strlen(LINE));
}

/* All that is not exactly the line: another version, spelling, or number than there are. */
TEST(refused)
{
	static const struct {
		const char *from, *to, *reason;
	} bad[] = {
#define BEGINS "begin with RDMA and a version"
		{ "RDMA 1", "RDMA 2", "version 2, this program version 1" },
		{ "RDMA 1", "RDMA 0", "version 0, " },
		{ "RDMA 1", "RDMA -1", "version -1, " },
		{ "RDMA 1", "RDMA 999999999", "version 999999999, " },
		{ "RDMA 1", "RDMA 01", FORM },
		{ "RDMA 1", "RDMA +1", FORM },
		{ "RDMA 1", "RDMA", BEGINS },
		{ "RDMA 1", "RDMA x", BEGINS },
		{ LINE, "", BEGINS },
		{ LINE, "\n", BEGINS },
		{ LINE, "rdma 1 QPN\n", BEGINS },
		{ LINE, "GET / HTTP/1.1\r\n", BEGINS },
		{ LINE, "\x16\x03\x01\x02", BEGINS },
		{ LINE, "RDMA 1\n", FORM },
		{ "1024\n", "1024", FORM },
		{ "1024\n", "1024\r\n", FORM },
		{ "1024\n", "1024\n\n", FORM },
		{ "1024\n", "1024 MORE 1\n", FORM },
		{ " QPN", "  QPN", FORM },
		{ " QPN", "\tQPN", FORM },
		{ "0x000011", "0x11", FORM },
		{ "0x000011", "0x0000011", FORM },
		{ "0x000011", "17", FORM },
		{ "0x000011", "0x100000011", FORM },
		{ "0x123456", "0x-12345", FORM },
		{ "0x123456", "0X123456", FORM },
		{ "0x123456", "0x12345g", FORM },
		{ "0x123456", "0x100123456", FORM },
		{ "::ffff:192.0.2.1", "::ffff:c000:201", FORM },
		{ "::ffff:192.0.2.1", "192.0.2.1", FORM },
		{ "::ffff:192.0.2.1", "::FFFF:192.0.2.1", FORM },
		{ "::ffff:192.0.2.1", "fe80::1%eth0", FORM },
		{ "::ffff:192.0.2.1", "", FORM },
		{ "LID 0x0000", "LID 0x10000", FORM },
		{ "1024 MODE", "1 MODE", FORM },
		{ "1024 MODE", "128 MODE", FORM },
		{ "1024 MODE", "1025 MODE", FORM },
		{ "1024 MODE", "8192 MODE", FORM },
		{ "1024 MODE", "-256 MODE", FORM },
		{ "1024 MODE", "4294967552 MODE", FORM },
		{ "write", "Write", FORM },
		{ "write", "writes", FORM },
		{ "write", "", FORM },
		{ "write", "abcdefghijklmnopqrstuvwxyz", FORM },
		{ "0x55d0c0ffee00", "0x155d0c0ffee00aaaaa", FORM },
		{ "0x000007f1", "0x1000007f1", FORM },
		{ "LENGTH 1024", "LENGTH 01024", FORM },
		{ "LENGTH 1024", "LENGTH -1", FORM },
		/* 2^32 + 1024 must not become 1024. */
		{ "LENGTH 1024", "LENGTH 4294968320", FORM },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(bad[i].from, bad[i].to, bad[i].reason);
}

TEST(length_of_line)
{
	char line[PARAMS_MAX + 2];

	memset(line, ' ', sizeof(line));
	memcpy(line, LINE, strlen(LINE));
	assert_bytes_refused(line, PARAMS_MAX, true, FORM);
	assert_bytes_refused(line, PARAMS_MAX + 1, true, "not text");
	assert_bytes_refused(line, sizeof(line), true, "not text");
}

/* What follows a zero byte would not be looked at by sscanf(3). */
TEST(zero_inside)
{
	char line[] = LINE "evil";

	line[strlen(LINE)] = 0;
	assert_bytes_refused(line, sizeof(line) - 1, true, "not text");
	for (size_t i = 0; i < strlen(LINE); i++) {
		memcpy(line, LINE, sizeof(LINE));
		line[i] = 0;
		assert_bytes_refused(line, strlen(LINE), true, "not text");
	}
}
