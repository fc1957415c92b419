/*
 * incoming.c - a file that arrives: whole, or not at all
 */
#define _GNU_SOURCE /* renameat2() */
#include "incoming.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/stat.h>

#include "log.h"

/* How many bytes are copied at a time. */
#define COPY ((size_t)65536)

/* How many bytes may wait for the disk: at the end, the sync must not take too long. */
#define SLICE ((uint64_t)64 << 20)

static uint64_t nanoseconds(const struct timespec *time)
{
	return time->tv_sec * 1000000000ULL + time->tv_nsec;
}

/* Whether something of that name is in the folder; if so, what it is. */
static bool find(const struct incoming *in, const char *name, struct stat *st)
{
	return !fstatat(in->folder->fd, name, st, AT_SYMLINK_NOFOLLOW);
}

/* Whether it may be the same file, stored earlier without a STORED. */
static bool is_whole(const struct incoming *in)
{
	struct stat st;

	return find(in, in->name, &st) && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size == in->size &&
	       nanoseconds(&st.st_mtim) == in->version;
}

/* Nothing is replaced. */
static int check_place(const struct incoming *in)
{
	struct stat st;

	if (!find(in, in->name, &st) || !S_ISREG(st.st_mode))
		return REFUSAL_NONE;
	log_fail("a file of that name is there already: it stays");
	return REFUSAL_THERE;
}

/* What a file of that name has been counted for, if it is there. */
static uint64_t share_of(const struct incoming *in, const char *name)
{
	struct stat st;

	return find(in, name, &st) && S_ISREG(st.st_mode) ?
		       folder_share(st.st_size) :
		       0;
}

/* Whether there is room for it in what the folder may hold. */
static int check_room(struct incoming *in)
{
	const struct folder *folder = in->folder;
	uint64_t used = folder->used;

	in->counted = share_of(in, in->part);
	used -= in->counted;
	if (in->size < folder->most &&
	    used + folder_share(in->size) <= folder->most)
		return REFUSAL_NONE;
	log_fail("no room for %" PRIu64 " bytes: the folder has %" PRIu64
		 ", and -M allows %" PRIu64,
		 in->size, used, folder->most);
	return REFUSAL_NO_ROOM;
}

/*
 * A part that was there may be one that another user has prepared and will
 * write to later, or one that another server is receiving in the same folder.
 */
static int check_part(struct incoming *in, struct stat *st)
{
	struct stat there;

	if (flock(in->fd, LOCK_EX | LOCK_NB))
		return log_fail_errno("flock", errno,
				      "is another server receiving that file");
	if (fstat(in->fd, st))
		return log_fail_errno("fstat", errno, "nothing is written");
	if (!S_ISREG(st->st_mode) || st->st_uid != geteuid() ||
	    st->st_nlink != 1)
		return log_fail(
			"there is something of somebody else's where the file would be written; remove it");
	/* Between openat() and flock(), the other server may have ended. */
	if (!find(in, in->part, &there) || there.st_ino != st->st_ino)
		return log_fail(
			"another server has just been receiving that file; send it again");
	return 0;
}

/* Opens the whole file that is there, if there is one: 1, 0, or -1. */
static int open_whole(struct incoming *in)
{
	if (!is_whole(in))
		return 0;
	in->fd = openat(in->folder->fd, in->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in->fd < 0)
		return log_fail_errno(
			"openat", errno,
			"may this user read the file of that name");
	in->open = in->named = true;
	in->at = in->size;
	return 1;
}

/* Opens the part; what is there already counts. */
static int open_part(struct incoming *in)
{
	struct stat st;

	in->fd = openat(in->folder->fd, in->part,
			O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			0644);
	if (in->fd < 0)
		return log_fail_errno("openat", errno,
				      "may this user write to that directory");
	in->open = true;
	if (check_part(in, &st)) {
		/* It is not ours, so we do not remove it. */
		incoming_drop(in, true);
		return -1;
	}
	in->at = (uint64_t)st.st_size < in->size ? (uint64_t)st.st_size :
						   in->size;
	in->synced = in->at;
	return 0;
}

/* What is there of it is read for the digest. */
static int open_file(struct incoming *in, const struct pulse *pulse)
{
	int ret, whole = open_whole(in);

	if (whole < 0 || (!whole && open_part(in)) || digest_begin(&in->digest))
		return REFUSAL_NOT_WRITTEN;
	ret = digest_add_file(in->digest, in->fd, in->at, pulse);
	if (ret > 0)
		return -1;
	return ret || digest_so_far(in->digest, in->first) ?
		       REFUSAL_NOT_WRITTEN :
		       REFUSAL_NONE;
}

void incoming_name(struct incoming *in, const char *name, uint64_t size,
		   uint64_t version)
{
	*in = (struct incoming){
		.folder = in->folder,
		.size = size,
		.version = version,
	};
	snprintf(in->name, sizeof(in->name), "%s", name);
	snprintf(in->part, sizeof(in->part), ".%s.%016" PRIx64 ".part", name,
		 version);
}

int incoming_begin(struct incoming *in, const struct pulse *pulse)
{
	int ret = in->folder->known ? 0 : folder_look(in->folder, pulse);

	if (ret)
		return ret > 0 ? -1 : REFUSAL_NOT_WRITTEN;
	if (!is_whole(in)) {
		ret = check_place(in);
		if (ret == REFUSAL_NONE)
			ret = check_room(in);
		if (ret != REFUSAL_NONE)
			return ret;
	}
	ret = open_file(in, pulse);
	if (ret != REFUSAL_NONE)
		incoming_drop(in, true);
	return ret;
}

static int write_all(struct incoming *in, const char *data, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t n = pwrite(in->fd, data + done, length - done,
				   in->at + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return log_fail_errno("pwrite", n ? errno : ENOSPC,
					      "is the disk full");
		done += n;
	}
	in->at += length;
	if (in->at - in->synced >= SLICE) {
		if (fsync(in->fd))
			return log_fail_errno("fsync", errno,
					      "is the disk full");
		in->synced = in->at;
	}
	return digest_add(in->digest, data, length);
}

int incoming_add(struct incoming *in, const void *data, size_t length)
{
	char copy[COPY];

	if (length > in->size - in->at)
		return log_fail("protocol error: more than the %" PRIu64
				" bytes that the file has",
				in->size);
	/*
	 * The peer may still write to data. The bytes that go to the disk must
	 * be those that are hashed, so fetch them from there only once.
	 */
	for (size_t done = 0; done < length; done += COPY) {
		size_t n = length - done < COPY ? length - done : COPY;

		memcpy(copy, (const char *)data + done, n);
		if (write_all(in, copy, n))
			return -1;
	}
	return 0;
}

/*
 * Two programs may be here at once: the second must not replace the file. A
 * link does the same where the file system has no such rename: 9p, NFS.
 */
static int rename_part(const struct incoming *in)
{
	int folder = in->folder->fd;
	int ret =
		renameat2(folder, in->part, folder, in->name, RENAME_NOREPLACE);
	int err;

	if (ret && errno == EINVAL) {
		ret = linkat(folder, in->part, folder, in->name, 0);
		if (!ret)
			ret = unlinkat(folder, in->part, 0);
	}
	if (!ret)
		return REFUSAL_NONE;
	err = errno;
	log_fail_errno("renameat2", err,
		       "is there something of that name already");
	return err == EEXIST ? REFUSAL_THERE : REFUSAL_NOT_WRITTEN;
}

/* The name is on the disk, too, before anybody is told that the file is stored. */
static int sync_name(const struct incoming *in)
{
	if (!fsync(in->folder->fd))
		return REFUSAL_NONE;
	log_fail_errno("fsync", errno,
		       "the file has its name, but a crash may take that away");
	return REFUSAL_NOT_WRITTEN;
}

/* The server that named it may have ended before the name was on the disk. */
static int sync_found(const struct incoming *in)
{
	if (!fsync(in->fd))
		return sync_name(in);
	log_fail_errno("fsync", errno, "is the disk in order");
	return REFUSAL_NOT_WRITTEN;
}

/* On the disk before it has its name: a crash leaves no half file there. */
static int give_name(struct incoming *in)
{
	const struct timespec times[] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = in->version / 1000000000,
		  .tv_nsec = in->version % 1000000000 },
	};
	int ret;

	if (ftruncate(in->fd, in->size) || futimens(in->fd, times) ||
	    fsync(in->fd)) {
		log_fail_errno("fsync", errno, "is the disk full");
		return REFUSAL_NOT_WRITTEN;
	}
	ret = rename_part(in);
	if (ret != REFUSAL_NONE)
		return ret;
	in->named = true;
	in->folder->used += folder_share(in->size) - in->counted;
	return sync_name(in);
}

int incoming_end(struct incoming *in)
{
	uint8_t ours[DIGEST_SIZE];
	int ret;

	if (digest_end(in->digest, ours)) {
		incoming_drop(in, true);
		return REFUSAL_NOT_WRITTEN;
	}
	if (in->at != in->size || memcmp(ours, in->wanted, DIGEST_SIZE)) {
		log_fail("the file that arrived is not the one that was sent%s",
			 in->named ? "" : ": it is thrown away");
		ret = REFUSAL_WRONG_DATA;
	} else {
		ret = in->named ? sync_found(in) : give_name(in);
	}
	incoming_drop(in, false);
	return ret;
}

void incoming_drop(struct incoming *in, bool keep)
{
	if (in->open) {
		if (!keep && !in->named) {
			if (unlinkat(in->folder->fd, in->part, 0))
				log_fail_errno("unlinkat", errno,
					       "a part is left");
			else
				in->folder->used -= in->counted;
		}
		/* Only now, because closing it releases the lock. */
		close(in->fd);
	}
	EVP_MD_CTX_free(in->digest);
	in->digest = NULL;
	in->open = false;
}
