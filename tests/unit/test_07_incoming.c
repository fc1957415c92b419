/*
 * test_07_incoming.c - a file arrives whole, or not at all
 */
#include "incoming_folder.h"

/* It has its name at the end, and not before. */
TEST(whole)
{
	assert_int_equal(begin("a", 5000, 1), 0);
	assert_true(in.at == 0);
	assert_int_equal(add(data, 3000), 0);
	assert_int_equal(size_of("a"), -1);
	assert_int_equal(add(data + 3000, 2000), 0);
	assert_int_equal(size_of("a"), -1);
	assert_int_equal(end(5000), 0);
	assert_int_equal(size_of("a"), 5000);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
	/* An empty one. */
	assert_int_equal(begin("a", 0, 2), 0);
	assert_int_equal(end(0), 0);
	assert_int_equal(size_of("a"), 0);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
}

TEST(wrong)
{
	assert_int_equal(begin("a", 5000, 1), 0);
	assert_int_equal(add(data, 5000), 0);
	assert_int_equal(end(4999), INCOMING_WRONG);
	assert_one_line(said.err, "is not the one that was sent");
	/* Too short, and too long. */
	assert_int_equal(begin("a", 5000, 1), 0);
	assert_true(in.at == 0);
	assert_int_equal(add(data, 4999), 0);
	assert_int_equal(end(4999), INCOMING_WRONG);
	assert_int_equal(begin("a", 5000, 1), 0);
	assert_int_equal(add(data, 4999), 0);
	assert_int_equal(add(data, 2), INCOMING_FAILED);
	assert_one_line(said.err, "more than the 5000 bytes");
	incoming_drop(&in, false);
	assert_int_equal(size_of("a"), -1);
}

/* What was kept is gone on with, if it is the same version. */
TEST(go_on)
{
	assert_int_equal(begin("a", 90000, 1), 0);
	assert_int_equal(add(data, 70000), 0);
	incoming_drop(&in, true);
	assert_int_equal(begin("a", 90000, 2), 0);
	assert_true(in.at == 0);
	incoming_drop(&in, false);
	assert_int_equal(begin("a", 90000, 1), 0);
	assert_true(in.at == 70000);
	/* Who is told to stop while it hashes what is there leaves it there. */
	incoming_drop(&in, true);
	stop = true;
	assert_int_equal(begin("a", 90000, 1), INCOMING_FAILED);
	assert_string_equal(said.err, "");
	stop = false;
	assert_int_equal(begin("a", 90000, 1), 0);
	assert_true(in.at == 70000);
	assert_true(in.first[0] == 0x66);
	assert_int_equal(add(data + 70000, 20000), 0);
	assert_int_equal(end(90000), 0);
	assert_int_equal(size_of("a"), 90000);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
	/* Something else under that name is noticed at the end. */
	assert_int_equal(begin("a", 90000, 1), 0);
	assert_int_equal(add(data + 1, 70000), 0);
	incoming_drop(&in, true);
	assert_int_equal(begin("a", 90000, 1), 0);
	assert_int_equal(add(data + 70000, 20000), 0);
	assert_int_equal(end(90000), INCOMING_WRONG);
	assert_int_equal(size_of("a"), -1);
}

/* The digest is that of the stored bytes, whatever a peer writes meanwhile. */
TEST(double_fetch)
{
	char stored[sizeof(data)];
	int fd;

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
TEST(on_the_disk)
{
	for (fails_at = 0; fails_at < 3; fails_at++) {
		int failing = fails_at;

		assert_int_equal(begin("a", 5000, 1), 0);
		assert_int_equal(add(data, 5000), 0);
		assert_string_equal(asked, "");
		assert_int_equal(end(5000),
				 failing ? INCOMING_FAILED : INCOMING_OK);
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

/*
 * Who finds the file under its name syncs it, and the name: the server that gave it
 * the name may have ended before it did.
 */
TEST(found)
{
	static const char *const orders[] = { "file folder ", "file ",
					      "file folder " };

	assert_int_equal(begin("a", 5000, 1), 0);
	assert_int_equal(add(data, 5000), 0);
	assert_int_equal(end(5000), INCOMING_OK);
	for (int failing = 0; failing < 3; failing++) {
		assert_int_equal(begin("a", 5000, 1), 0);
		assert_true(in.named && in.at == 5000);
		fails_at = failing;
		assert_int_equal(end(5000),
				 failing ? INCOMING_FAILED : INCOMING_OK);
		assert_string_equal(asked, orders[failing]);
		if (failing)
			assert_one_line(said.err, "error: fsync: ");
	}
	assert_int_equal(size_of("a"), 5000);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
}

AROUND_ALL(make_folder, remove_folder)
