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

TEST(version)
{
	assert_refused("RDMA 1", "RDMA 2", "version 2, this program version 1");
	assert_refused("RDMA 1", "RDMA 0", "version 0, ");
	assert_refused("RDMA 1", "RDMA -1", "version -1, ");
	assert_refused("RDMA 1", "RDMA 999999999", "version 999999999, ");
	assert_refused("RDMA 1", "RDMA 01", FORM);
	assert_refused("RDMA 1", "RDMA +1", FORM);
	assert_refused("RDMA 1", "RDMA", "begin with RDMA and a version");
	assert_refused("RDMA 1", "RDMA x", "begin with RDMA and a version");
}

TEST(garbage)
{
	static const char *const bad[] = { "\n",
					   "RDMA\n",
					   "rdma 1 QPN\n",
					   "GET / HTTP/1.1\r\n",
					   "\x16\x03\x01\x02",
					   "\xff\xff\n" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_bytes_refused(bad[i], strlen(bad[i]), true,
				     "begin with RDMA and a version");
	assert_bytes_refused("", 0, true, "begin with RDMA and a version");
	assert_bytes_refused("RDMA 1\n", 7, true, FORM);
	/* Not a byte more than the line, and not a byte less. */
	assert_refused("1024\n", "1024", FORM);
	assert_refused("1024\n", "1024\r\n", FORM);
	assert_refused("1024\n", "1024\n\n", FORM);
	assert_refused("1024\n", "1024 MORE 1\n", FORM);
}

/* Any other spelling of a line that would be right. */
TEST(spelling)
{
	assert_refused(" QPN", "  QPN", FORM);
	assert_refused(" QPN", "\tQPN", FORM);
	assert_refused("QPN 0x000011", "QPN 0x11", FORM);
	assert_refused("QPN 0x000011", "QPN 0x0000011", FORM);
	assert_refused("QPN 0x000011", "QPN 17", FORM);
	assert_refused("PSN 0x123456", "PSN 0x-12345", FORM);
	assert_refused("PSN 0x123456", "PSN 0X123456", FORM);
	assert_refused("PSN 0x123456", "PSN 0x12345g", FORM);
	assert_refused("::ffff:192.0.2.1", "::ffff:c000:201", FORM);
	assert_refused("::ffff:192.0.2.1", "192.0.2.1", FORM);
	assert_refused("::ffff:192.0.2.1", "::FFFF:192.0.2.1", FORM);
	assert_refused("::ffff:192.0.2.1", "fe80::1%eth0", FORM);
	assert_refused("::ffff:192.0.2.1", "", FORM);
	assert_refused("LENGTH 1024", "LENGTH 01024", FORM);
	assert_refused("LENGTH 1024", "LENGTH +1024", FORM);
	assert_refused("LENGTH 1024", "LENGTH -1", FORM);
	/* 2^32 + 1024 must not become 1024. */
	assert_refused("LENGTH 1024", "LENGTH 4294968320", FORM);
	assert_refused("RKEY 0x000007f1", "RKEY 0x1000007f1", FORM);
	assert_refused("ADDR 0x55d0c0ffee00", "ADDR 0x155d0c0ffee00aaaaa",
		       FORM);
}

static const char *before_mode(const char *mtu)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s MODE", mtu);
	return text;
}

/* Numbers that are too big for their field, and words that are none. */
TEST(fields)
{
	static const char *const mtus[] = { "0",    "1",     "128",
					    "255",  "1025",  "8192",
					    "-256", "0x400", "4294967552" };
	static const char *const modes[] = { "unknown", "Write", "writes", "",
					     "abcdefghijklmnopqrstuvwxyz" };

	assert_refused("0x000011", "0x100000011", FORM);
	assert_refused("0x123456", "0x100123456", FORM);
	assert_refused("LID 0x0000", "LID 0x10000", FORM);
	for (size_t i = 0; i < sizeof(mtus) / sizeof(*mtus); i++)
		assert_refused("1024 MODE", before_mode(mtus[i]), FORM);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		assert_refused("write", modes[i], FORM);
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
