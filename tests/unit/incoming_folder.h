/*
 * incoming_folder.h - a folder that files come to, and what is asked of its disk
 */
#ifndef INCOMING_FOLDER_H
#define INCOMING_FOLDER_H

#include "incoming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>

#include "test.h"

static char path[] = "/tmp/test_incoming.XXXXXX";
static int directory;
static struct folder folder;
static struct incoming in;
static int stop;
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

/* Whether somebody else stores a file of that name at that moment. */
static bool comes_between;

/* Whether the file system cannot rename without replacing. */
static bool is_simple;

int renameat2(int from, const char *old, int to, const char *new,
	      unsigned int flags)
{
	strcat(asked, "name ");
	if (comes_between)
		close(openat(to, new, O_CREAT | O_WRONLY, 0644));
	if (is_simple && flags) {
		errno = EINVAL;
		return -1;
	}
	return syscall(SYS_renameat2, from, old, to, new, flags);
}

static int make_folder(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 256;
	if (!mkdtemp(path))
		return -1;
	directory = open(path, O_RDONLY | O_DIRECTORY);
	folder = (struct folder){ .fd = directory,
				  .most = 1 << 30,
				  .known = true };
	return directory < 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(path);
}

static int beat(void *of)
{
	return *(int *)of;
}

static const struct pulse pulse = { beat, &stop };

static int begin(const char *name, uint64_t size, uint64_t version)
{
	int ret;

	asked[0] = 0;
	in = (struct incoming){ .folder = &folder };
	capture_start();
	incoming_name(&in, name, size, version);
	ret = incoming_begin(&in, &pulse);
	capture_stop(&said);
	return ret;
}

static int add(const void *bytes, size_t length)
{
	return CAPTURED(incoming_add(&in, bytes, length));
}

/* With the digest of the first length bytes of data. */
static int end(size_t length)
{
	EVP_MD_CTX *ctx;

	assert_int_equal(digest_begin(&ctx), 0);
	assert_int_equal(digest_add(ctx, data, length), 0);
	assert_int_equal(digest_end(ctx, in.wanted), 0);
	EVP_MD_CTX_free(ctx);
	return CAPTURED(incoming_end(&in));
}

static off_t size_of(const char *name)
{
	struct stat st;

	return fstatat(directory, name, &st, 0) ? -1 : st.st_size;
}

#endif
