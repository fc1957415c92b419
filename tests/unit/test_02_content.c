/*
 * test_02_content.c - the text that has come is shown, and every byte looked at
 */
#include "content.h"

#include <string.h>

#include "test.h"

#define SIZE 3000

static char bytes[2][SIZE];
static struct data data;

static int check(enum mode mode, bool counts)
{
	return CAPTURED(content_check(&data, mode, counts));
}

static int prepare(void **state)
{
	(void)state;
	memset(bytes, 0, sizeof(bytes));
	data.local = (struct region){ .buf = bytes[0], .size = SIZE };
	data.exposed = (struct region){ .buf = bytes[1], .size = SIZE };
	return 0;
}

/* What we write is in local, and the peer finds it in its exposed memory. */
TEST_AROUND(write, prepare, NULL)
{
	content_write(&data, MODE_WRITE, "active/client");
	assert_memory_equal(bytes[0], "message from active/client side", 31);
	assert_int_equal(bytes[1][0], 0);
	memcpy(bytes[1], bytes[0], SIZE);
	memset(bytes[0], 0, SIZE);
	assert_int_equal(check(MODE_WRITE, true), 0);
	assert_non_null(strstr(said.out, "remote buffer: message from active"));
	assert_non_null(strstr(said.out, "\n3000 bytes verified.\n"));
}

/* What the peer may read is in exposed, and comes into its local memory. */
TEST_AROUND(read, prepare, NULL)
{
	content_write(&data, MODE_READ, "passive/server");
	assert_memory_equal(bytes[1], "message from passive/server side", 32);
	assert_int_equal(bytes[0][0], 0);
	memcpy(bytes[0], bytes[1], SIZE);
	memset(bytes[1], 0, SIZE);
	assert_int_equal(check(MODE_READ, false), 0);
	assert_non_null(
		strstr(said.out, "remote buffer: message from passive"));
	assert_null(strstr(said.out, "verified"));
}

/* One byte that is wrong is found, wherever it is; the text is shown first. */
TEST_AROUND(wrong_byte, prepare, NULL)
{
	const int places[] = { 200, SIZE / 2, SIZE - 1 };

	content_write(&data, MODE_READ, "passive/server");
	memcpy(bytes[0], bytes[1], SIZE);
	for (int i = 0; i < 3; i++) {
		bytes[0][places[i]] ^= 1;
		assert_int_equal(check(MODE_READ, true), -1);
		assert_non_null(strstr(said.out, "remote buffer: message"));
		assert_null(strstr(said.out, "verified"));
		bytes[0][places[i]] ^= 1;
	}
	assert_int_equal(check(MODE_READ, true), 0);
}
