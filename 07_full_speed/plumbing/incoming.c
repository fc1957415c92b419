/*
 * incoming.c - a file that arrives: whole, or not at all
 */
#include "incoming.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "log.h"

/* So many bytes are copied at a time. */
#define COPY ((size_t)65536)

bool incoming_is_name(const char *name, size_t length)
{
	/* With a dot in front, it could be a part of another file. */
	return length > 0 && length <= INCOMING_NAME && name[0] != '.' &&
	       !memchr(name, '/', length) && !memchr(name, 0, length);
}

/* Opens the part; what is there already counts, and is read for the digest. */
static int open_part(struct incoming *in)
{
	struct stat st;

	in->fd = openat(in->directory, in->part,
			O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (in->fd < 0)
		return log_fail_errno("openat", errno,
				      "may this user write to that directory");
	in->open = true;
	if (fstat(in->fd, &st))
		return log_fail_errno("fstat", errno, "nothing is written");
	if (!S_ISREG(st.st_mode))
		return log_fail("there is something else where the file would "
				"be written; remove it");
	in->at = (uint64_t)st.st_size < in->size ? (uint64_t)st.st_size :
						   in->size;
	return digest_add_file(in->digest, in->fd, in->at);
}

int incoming_begin(struct incoming *in, const char *name, uint64_t size,
		   uint64_t version)
{
	*in = (struct incoming){ .directory = in->directory, .size = size };
	snprintf(in->name, sizeof(in->name), "%s", name);
	snprintf(in->part, sizeof(in->part), ".%s.%016" PRIx64 ".part", name,
		 version);
	if (digest_begin(&in->digest) || open_part(in)) {
		incoming_drop(in, true);
		return -1;
	}
	return 0;
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
	 * The peer may still write to data. What goes to the disk and what is
	 * hashed must be the same bytes: so they are fetched from there once.
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
 * On the disk before it has its name: a crash leaves no half of a file there. And
 * the name is on the disk, too, before anybody is told that the file is stored.
 */
static int give_name(struct incoming *in)
{
	if (ftruncate(in->fd, in->size) || fsync(in->fd))
		return log_fail_errno("fsync", errno, "is the disk full");
	if (renameat(in->directory, in->part, in->directory, in->name))
		return log_fail_errno("renameat", errno,
				      "is there a directory of that name");
	in->named = true;
	if (fsync(in->directory))
		return log_fail_errno("fsync", errno,
				      "the file has its name, but a crash may "
				      "take that away; send it again");
	return 0;
}

int incoming_end(struct incoming *in, const uint8_t digest[DIGEST_SIZE])
{
	uint8_t ours[DIGEST_SIZE];
	int ret;

	if (digest_end(in->digest, ours)) {
		incoming_drop(in, true);
		return -1;
	}
	if (in->at != in->size || memcmp(ours, digest, DIGEST_SIZE)) {
		log_fail("the file that arrived is not the one that was sent: "
			 "it is thrown away");
		incoming_drop(in, false);
		return 1;
	}
	ret = give_name(in);
	incoming_drop(in, false);
	return ret;
}

void incoming_drop(struct incoming *in, bool keep)
{
	if (in->open) {
		close(in->fd);
		if (!keep && !in->named && unlinkat(in->directory, in->part, 0))
			log_fail_errno("unlinkat", errno, "a part is left");
	}
	EVP_MD_CTX_free(in->digest);
	in->digest = NULL;
	in->open = false;
}
