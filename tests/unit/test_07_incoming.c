/*
 * test_07_incoming.c - a file arrives whole, or not at all
 */
#include "incoming.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "capture.h"

static struct captured said;
static char folder[] = "/tmp/test_incoming.XXXXXX";
static int directory;
static struct incoming in;
static char data[100000];

/* What a peer does to the memory that is written to the disk, right after that. */
static char *changes;

ssize_t pwrite(int fd, const void *buf, size_t length, off_t offset)
{
	ssize_t n = syscall(SYS_pwrite64, fd, buf, length, offset);

	if (changes)
		*changes ^= 1;
	return n;
}

/* What is asked of the disk, in order; and which sync fails: the nth, or none. */
static char asked[64];
static int fails_at;

int fsync(int fd)
{
	strcat(asked, fd == directory ? "folder " : "file ");
	if (fails_at && --fails_at == 0) {
		errno = EIO;
		return -1;
	}
	return 0;
}

int renameat(int from, const char *old, int to, const char *new)
{
	strcat(asked, "name ");
	return syscall(SYS_renameat2, from, old, to, new, 0);
}

static int make_folder(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 256;
	if (!mkdtemp(folder))
		return -1;
	directory = open(folder, O_RDONLY | O_DIRECTORY);
	return directory < 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static int begin(const char *name, uint64_t size, uint64_t version)
{
	int ret;

	asked[0] = 0;
	in = (struct incoming){ .directory = directory };
	capture_start();
	ret = incoming_begin(&in, name, size, version);
	capture_stop(&said);
	return ret;
}

static int add(const void *bytes, size_t length)
{
	int ret;

	capture_start();
	ret = incoming_add(&in, bytes, length);
	capture_stop(&said);
	return ret;
}

/* With the digest of the first length bytes of data. */
static int end(size_t length)
{
	uint8_t digest[DIGEST_SIZE];
	EVP_MD_CTX *ctx;
	int ret;

	assert_int_equal(digest_begin(&ctx), 0);
	assert_int_equal(digest_add(ctx, data, length), 0);
	assert_int_equal(digest_end(ctx, digest), 0);
	EVP_MD_CTX_free(ctx);
	capture_start();
	ret = incoming_end(&in, digest);
	capture_stop(&said);
	return ret;
}

static off_t size_of(const char *name)
{
	struct stat st;

	return fstatat(directory, name, &st, 0) ? -1 : st.st_size;
}

static void test_names(void **state)
{
	char longest[INCOMING_NAME + 2];

	(void)state;
	assert_true(incoming_is_name("a", 1));
	assert_true(incoming_is_name("a b.txt", 7));
	assert_false(incoming_is_name("", 0));
	assert_false(incoming_is_name(".", 1));
	assert_false(incoming_is_name("..", 2));
	assert_false(incoming_is_name(".a", 2));
	assert_false(incoming_is_name("a/b", 3));
	assert_false(incoming_is_name("/", 1));
	assert_false(incoming_is_name("a/", 2));
	assert_false(incoming_is_name("a\0b", 3));
	memset(longest, 'a', sizeof(longest));
	assert_true(incoming_is_name(longest, INCOMING_NAME));
	assert_false(incoming_is_name(longest, INCOMING_NAME + 1));
}

/* It has its name at the end, and not before. */
static void test_whole(void **state)
{
	(void)state;
	assert_int_equal(begin("a", 5000, 1), 0);
	assert_true(in.at == 0);
	assert_int_equal(add(data, 3000), 0);
	assert_int_equal(size_of("a"), -1);
	assert_int_equal(add(data + 3000, 2000), 0);
	assert_int_equal(size_of("a"), -1);
	assert_int_equal(end(5000), 0);
	assert_int_equal(size_of("a"), 5000);
	/* An empty one; and in place of one that is there. */
	assert_int_equal(begin("a", 0, 2), 0);
	assert_int_equal(end(0), 0);
	assert_int_equal(size_of("a"), 0);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
}

static void test_wrong(void **state)
{
	(void)state;
	assert_int_equal(begin("a", 5000, 1), 0);
	assert_int_equal(add(data, 5000), 0);
	assert_int_equal(end(4999), 1);
	assert_one_line(said.err, "is not the one that was sent");
	/* Too short, and too long. */
	assert_int_equal(begin("a", 5000, 1), 0);
	assert_true(in.at == 0);
	assert_int_equal(add(data, 4999), 0);
	assert_int_equal(end(4999), 1);
	assert_int_equal(begin("a", 5000, 1), 0);
	assert_int_equal(add(data, 4999), 0);
	assert_int_equal(add(data, 2), -1);
	assert_one_line(said.err, "more than the 5000 bytes");
	incoming_drop(&in, false);
	assert_int_equal(size_of("a"), -1);
}

/* What was kept is gone on with, if it is the same version. */
static void test_go_on(void **state)
{
	(void)state;
	assert_int_equal(begin("a", 90000, 1), 0);
	assert_int_equal(add(data, 70000), 0);
	incoming_drop(&in, true);
	assert_int_equal(begin("a", 90000, 2), 0);
	assert_true(in.at == 0);
	incoming_drop(&in, false);
	assert_int_equal(begin("a", 90000, 1), 0);
	assert_true(in.at == 70000);
	assert_int_equal(add(data + 70000, 20000), 0);
	assert_int_equal(end(90000), 0);
	assert_int_equal(size_of("a"), 90000);
	/* Something else under that name is noticed at the end. */
	assert_int_equal(begin("a", 90000, 1), 0);
	assert_int_equal(add(data + 1, 70000), 0);
	incoming_drop(&in, true);
	assert_int_equal(begin("a", 90000, 1), 0);
	assert_int_equal(add(data + 70000, 20000), 0);
	assert_int_equal(end(90000), 1);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
}

/* The digest is that of the stored bytes, whatever a peer writes meanwhile. */
static void test_double_fetch(void **state)
{
	char stored[sizeof(data)];
	int fd;

	(void)state;
	assert_int_equal(begin("a", sizeof(data), 1), 0);
	/* The disk has the old byte; who looks again finds the new one. */
	changes = &data[70000];
	data[70000] ^= 1;
	assert_int_equal(add(data, sizeof(data)), 0);
	changes = NULL;
	fd = openat(directory, in.part, O_RDONLY);
	assert_int_equal(read(fd, stored, sizeof(data)), sizeof(data));
	close(fd);
	memcpy(data, stored, sizeof(data));
	assert_int_equal(end(sizeof(data)), 0);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 256;
}

/* STORED means: the bytes are on the disk, and then the name is. */
static void test_on_the_disk(void **state)
{
	(void)state;
	for (fails_at = 0; fails_at < 3; fails_at++) {
		int failing = fails_at;

		assert_int_equal(begin("a", 5000, 1), 0);
		assert_int_equal(add(data, 5000), 0);
		assert_string_equal(asked, "");
		assert_int_equal(end(5000), failing ? -1 : 0);
		assert_string_equal(asked, failing == 1 ? "file " :
							  "file name folder ");
		if (failing)
			assert_one_line(said.err, "error: fsync: ");
		fails_at = failing;
		assert_int_equal(unlinkat(directory, "a", 0),
				 failing == 1 ? -1 : 0);
	}
	fails_at = 0;
}

/* Neither a link nor a folder is written to. */
static void test_in_the_way(void **state)
{
	const char *part = ".a.0000000000000001.part";

	(void)state;
	assert_int_equal(symlinkat("/dev/null", directory, part), 0);
	assert_int_equal(begin("a", 1, 1), -1);
	assert_one_line(said.err, "error: openat: ");
	assert_int_equal(unlinkat(directory, part, 0), 0);
	assert_int_equal(mkdirat(directory, "a", 0755), 0);
	assert_int_equal(begin("a", 10, 1), 0);
	assert_int_equal(add(data, 10), 0);
	assert_int_equal(end(10), -1);
	assert_one_line(said.err, "a directory of that name");
	assert_int_equal(size_of(part), -1);
	assert_int_equal(unlinkat(directory, "a", AT_REMOVEDIR), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_go_on),
		cmocka_unit_test(test_in_the_way),
		cmocka_unit_test(test_double_fetch),
		cmocka_unit_test(test_on_the_disk),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, make_folder,
					   remove_folder);
}
