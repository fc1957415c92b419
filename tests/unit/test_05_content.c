/*
 * test_05_content.c - whose bytes they are that have come
 */
#include "content.h"

#include <stdio.h>
#include <string.h>

#include "test.h"
#include "pattern.h"

static char bytes[2][3000];
static struct data data;

/* What who writes for the client with number; returns where it stands. */
static const struct region *written(enum mode mode, const char *who,
				    unsigned int number)
{
	data.local = (struct region){ .buf = bytes[0], .size = 3000 };
	data.exposed = (struct region){ .buf = bytes[1], .size = 3000 };
	content_write(&data, mode, who, number);
	return mode == MODE_WRITE ? &data.local : &data.exposed;
}

/* The peer writes where we read from, and lends what we write from. */
static enum mode other(enum mode mode)
{
	return mode == MODE_WRITE ? MODE_READ : MODE_WRITE;
}

/* What has been written in mode, as the peer that gets it sees it. */
static int check(enum mode mode, const char *who, unsigned int number)
{
	return CAPTURED(content_check(&data, other(mode), true, who, number));
}

/* Another client's, one's own that came back, and nobody's. */
TEST(of_others)
{
	const struct region *region;

	region = written(MODE_READ, CONTENT_CLIENT, 12);
	assert_int_equal(check(MODE_READ, CONTENT_CLIENT, 1), -1);
	assert_one_line(said.err, "these bytes are not client 1's");
	assert_int_equal(check(MODE_READ, CONTENT_CLIENT, 120), -1);
	assert_int_equal(check(MODE_READ, CONTENT_SERVER, 12), -1);
	region->buf[0] = 0;
	pattern_fill(region->buf, region->size);
	assert_int_equal(check(MODE_READ, CONTENT_CLIENT, 12), -1);
	assert_null(strstr(said.out, "verified"));
}
