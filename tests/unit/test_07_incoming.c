/*
 * test_07_incoming.c - a file arrives whole or not at all; and nothing in a folder that
 * others use as well is replaced or written to that should not be
 */
#define _GNU_SOURCE
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
	stop = 1;
	assert_int_equal(begin("a", 90000, 1), -1);
	assert_string_equal(said.err, "");
	stop = 0;
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
	assert_int_equal(end(90000), REFUSAL_WRONG_DATA);
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
	assert_int_equal(end(5000), REFUSAL_NONE);
	for (int failing = 0; failing < 3; failing++) {
		assert_int_equal(begin("a", 5000, 1), 0);
		assert_true(in.named && in.at == 5000);
		fails_at = failing;
		assert_int_equal(end(5000),
				 failing ? REFUSAL_NOT_WRITTEN : REFUSAL_NONE);
		assert_string_equal(asked, orders[failing]);
		if (failing)
			assert_one_line(said.err, "error: fsync: ");
	}
	assert_int_equal(size_of("a"), 5000);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
}

static const char part[] = ".a.0000000000000001.part";

/* A file with a byte in it, of a time so many seconds after 1970. */
static void put(const char *name, time_t seconds)
{
	const struct timespec times[] = { { .tv_sec = seconds },
					  { .tv_sec = seconds } };
	int fd = openat(directory, name, O_CREAT | O_WRONLY, 0600);

	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(close(fd), 0);
}

/* What others may have put where the part would be is not written to. */
TEST(in_the_way)
{
	struct incoming other = { .folder = &folder };

	assert_int_equal(symlinkat("/dev/null", directory, part), 0);
	assert_int_equal(begin("a", 1, 1), REFUSAL_NOT_WRITTEN);
	assert_one_line(said.err, "error: openat: ");
	assert_int_equal(unlinkat(directory, part, 0), 0);
	assert_int_equal(mkfifoat(directory, part, 0644), 0);
	assert_int_equal(begin("a", 1, 1), REFUSAL_NOT_WRITTEN);
	assert_one_line(said.err, "somebody else's");
	assert_int_equal(unlinkat(directory, part, 0), 0);
	/* One that has another name as well. */
	put(part, 1);
	assert_int_equal(linkat(directory, part, directory, "mine", 0), 0);
	assert_int_equal(begin("a", 1, 1), REFUSAL_NOT_WRITTEN);
	assert_one_line(said.err, "somebody else's");
	assert_int_equal(size_of(part), 1);
	assert_int_equal(unlinkat(directory, "mine", 0), 0);
	assert_int_equal(unlinkat(directory, part, 0), 0);
	/* One of another user; only root can make it. */
	if (!geteuid()) {
		put(part, 1);
		assert_int_equal(fchownat(directory, part, 65534, 65534, 0), 0);
		assert_int_equal(begin("a", 1, 1), REFUSAL_NOT_WRITTEN);
		assert_one_line(said.err, "somebody else's");
		assert_int_equal(unlinkat(directory, part, 0), 0);
	}
	/* One that another server has under way. */
	incoming_name(&other, "a", 10, 1);
	assert_int_equal(incoming_begin(&other, &pulse), REFUSAL_NONE);
	assert_int_equal(begin("a", 10, 1), REFUSAL_NOT_WRITTEN);
	assert_one_line(said.err, "is another server receiving that file");
	assert_int_equal(size_of(part), 0);
	incoming_drop(&other, false);
	/* A folder of that name. */
	assert_int_equal(mkdirat(directory, "a", 0755), 0);
	assert_int_equal(begin("a", 10, 1), REFUSAL_NONE);
	assert_int_equal(add(data, 10), 0);
	assert_int_equal(end(10), REFUSAL_THERE);
	assert_one_line(said.err, "something of that name already");
	assert_int_equal(size_of(part), -1);
	assert_int_equal(unlinkat(directory, "a", AT_REMOVEDIR), 0);
}

/* A file that is there stays, whenever it has come. */
TEST(replace)
{
	put("a", 5);
	assert_int_equal(begin("a", 10, 6000000000), REFUSAL_THERE);
	assert_one_line(said.err, "a file of that name is there already");
	assert_int_equal(size_of("a"), 1);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
	/* And at the last moment. */
	assert_int_equal(begin("a", 10, 1), REFUSAL_NONE);
	assert_int_equal(add(data, 10), 0);
	comes_between = true;
	assert_int_equal(end(10), REFUSAL_THERE);
	assert_int_equal(size_of("a"), 0);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
	/* The same where only a link does not replace. */
	is_simple = true;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(begin("a", 10, 1), REFUSAL_NONE);
		assert_int_equal(add(data, 10), 0);
		assert_int_equal(end(10), i ? REFUSAL_NONE : REFUSAL_THERE);
		assert_int_equal(size_of("a"), i ? 10 : 0);
		assert_int_equal(size_of(part), -1);
		assert_int_equal(unlinkat(directory, "a", 0), 0);
		comes_between = false;
	}
	is_simple = false;
}

/* What was stored, and nobody heard of it, is not stored twice. */
TEST(stored_before)
{
	const uint64_t version = 1234567890123456789;
	struct stat st;

	assert_int_equal(begin("a", 5000, version), REFUSAL_NONE);
	assert_int_equal(add(data, 5000), 0);
	assert_int_equal(end(5000), REFUSAL_NONE);
	assert_int_equal(fstatat(directory, "a", &st, 0), 0);
	assert_true(st.st_mtim.tv_sec == 1234567890 &&
		    st.st_mtim.tv_nsec == 123456789);
	folder.most = 5000;
	assert_int_equal(begin("a", 5000, version), REFUSAL_NONE);
	assert_true(in.at == 5000);
	/* But its name may not be on the disk yet, and the answer will say so. */
	asked[0] = 0;
	assert_int_equal(end(5000), REFUSAL_NONE);
	assert_string_equal(asked, "file folder ");
	/* It is not the client's to be removed, or to be written to. */
	assert_int_equal(begin("a", 5000, version), REFUSAL_NONE);
	assert_int_equal(add(data, 1), -1);
	incoming_drop(&in, false);
	assert_int_equal(begin("a", 5000, version), REFUSAL_NONE);
	assert_int_equal(end(4999), REFUSAL_WRONG_DATA);
	assert_int_equal(size_of("a"), 5000);
	assert_int_equal(begin("a", 4999, version), REFUSAL_THERE);
	assert_int_equal(begin("a", 5000, version + 1), REFUSAL_THERE);
	folder.most = 1 << 30;
	assert_int_equal(unlinkat(directory, "a", 0), 0);
}

/* All files in the folder count, those that are under way as well. */
TEST(room)
{
	folder.most = 3 * 4096;
	put("b", 1);
	assert_int_equal(folder_look(&folder, &pulse), 0);
	assert_true(folder.used == 4096);
	assert_int_equal(begin("a", 8192, 1), REFUSAL_NO_ROOM);
	assert_one_line(said.err, "no room for 8192 bytes");
	assert_int_equal(begin("a", UINT64_MAX, 1), REFUSAL_NO_ROOM);
	assert_int_equal(begin("a", UINT64_MAX - 4095, 1), REFUSAL_NO_ROOM);
	assert_int_equal(begin("a", 8191, 1), REFUSAL_NONE);
	assert_int_equal(add(data, 5000), 0);
	incoming_drop(&in, true);
	/* What is there of it does not count twice. */
	assert_int_equal(folder_look(&folder, &pulse), 0);
	assert_true(folder.used == 3 * 4096);
	assert_int_equal(begin("a", 8191, 1), REFUSAL_NONE);
	assert_true(in.at == 5000);
	assert_int_equal(add(data + 5000, 3191), 0);
	assert_int_equal(end(8191), REFUSAL_NONE);
	assert_int_equal(begin("c", 0, 1), REFUSAL_NO_ROOM);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
	assert_int_equal(unlinkat(directory, "b", 0), 0);
	folder.most = 1 << 30;
	folder.used = 0;
}

/* Old parts go, and nothing else; nor one that is under way. */
TEST(old_parts)
{
	const char *stay[] = { "a", ".a.part", ".a.0000000000000g01.part",
			       "a.0000000000000001.part",
			       "..0000000000000001.part" };

	for (int i = 0; i < 5; i++)
		put(stay[i], 1);
	put(part, time(NULL) - FOLDER_PART_HOURS * 3600 + 60);
	CAPTURE(folder_look(&folder, &pulse));
	assert_string_equal(said.out, "");
	assert_int_equal(size_of(part), 1);
	assert_int_equal(begin("a", 10, 1), REFUSAL_THERE);
	assert_int_equal(unlinkat(directory, "a", 0), 0);
	assert_int_equal(begin("a", 10, 1), REFUSAL_NONE);
	put(part, 1);
	CAPTURE(folder_look(&folder, &pulse));
	assert_int_equal(size_of(part), 1);
	incoming_drop(&in, true);
	CAPTURE(folder_look(&folder, &pulse));
	assert_one_line(said.out, "removed, since nobody has continued it");
	assert_int_equal(size_of(part), -1);
	for (int i = 1; i < 5; i++)
		assert_int_equal(unlinkat(directory, stay[i], 0), 0);
	folder.used = 0;
}

AROUND_ALL(make_folder, remove_folder)
